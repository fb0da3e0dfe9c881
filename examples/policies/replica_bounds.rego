# At least two of everything in production, and never more than thirty; autoscalers too.
package foretell.replica_bounds

workloads := {"Deployment", "StatefulSet"}

deny contains msg if {
	input.environment.name == "production"
	some object in input.manifest.proposed
	object.kind in workloads
	not scaled(object)
	replicas := get_or(object.spec, "replicas", 1)
	outside(replicas)
	msg := sprintf("%s/%s has %d replicas, expected 2 to 30", [object.kind, object.metadata.name, replicas])
}

deny contains msg if {
	input.environment.name == "production"
	some object in input.manifest.proposed
	object.kind == "HorizontalPodAutoscaler"
	some replicas in [get_or(object.spec, "minReplicas", 1), object.spec.maxReplicas]
	outside(replicas)
	msg := sprintf("autoscaler %s may go to %d replicas, expected 2 to 30", [object.metadata.name, replicas])
}

outside(replicas) if replicas < 2

outside(replicas) if replicas > 30

get_or(map, key, otherwise) := object.get(map, key, otherwise)

# What an autoscaler scales has no number of its own.
scaled(workload) if {
	some object in input.manifest.proposed
	object.kind == "HorizontalPodAutoscaler"
	object.spec.scaleTargetRef.kind == workload.kind
	object.spec.scaleTargetRef.name == workload.metadata.name
}
