# Every container says how much memory it may use, and no more than a node has.
package foretell.limits_set

most := units.parse_bytes("8Gi")

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
	not container.resources.limits.memory
	msg := sprintf("%s/%s: container %s has no memory limit", [
		object.kind,
		object.metadata.name,
		container.name,
	])
}

deny contains msg if {
	some [object, container] in containers
	limit := container.resources.limits.memory
	units.parse_bytes(sprintf("%v", [limit])) > most
	msg := sprintf("%s/%s: container %s may use %v of memory, at most 8Gi", [
		object.kind,
		object.metadata.name,
		container.name,
		limit,
	])
}

warn contains msg if {
	some [object, container] in containers
	not container.resources.requests.cpu
	msg := sprintf("%s/%s: container %s requests no CPU", [
		object.kind,
		object.metadata.name,
		container.name,
	])
}
