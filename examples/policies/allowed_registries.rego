# Images come from the registries of the company. A prefix ends with a slash, or
# registry.example.evil.test would pass for registry.example.
package foretell.allowed_registries

allowed := ["registry.example/", "ghcr.io/example/"]

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
	not from_allowed(container.image)
	msg := sprintf("%s/%s: image %s is from no allowed registry", [
		object.kind,
		object.metadata.name,
		container.image,
	])
}

from_allowed(image) if {
	some prefix in allowed
	startswith(image, prefix)
}
