# An image without a tag or digest, or tagged latest, is another one tomorrow.
package foretell.no_latest_tag

# The pod templates of every workload, and pods themselves.
pods contains [object, object.spec.template.spec] if some object in input.manifest.proposed

pods contains [object, object.spec.jobTemplate.spec.template.spec] if {
	some object in input.manifest.proposed
}

pods contains [object, object.spec] if {
	some object in input.manifest.proposed
	object.kind == "Pod"
}

containers contains [object, container] if {
	some [object, pod] in pods
	some field in ["containers", "initContainers", "ephemeralContainers"]
	some container in pod[field]
}

deny contains msg if {
	some [object, container] in containers
	floating(container.image)
	msg := sprintf("%s/%s: image %s has no fixed version", [
		object.kind,
		object.metadata.name,
		container.image,
	])
}

floating(image) if {
	not contains(image, "@")
	endswith(image, ":latest")
}

floating(image) if {
	not contains(image, "@")
	last := regex.split("/", image)[count(regex.split("/", image)) - 1]
	not contains(last, ":")
}
