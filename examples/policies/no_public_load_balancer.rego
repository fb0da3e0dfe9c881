# A load balancer is internal, unless the resource's metadata allows a public one.
package foretell.no_public_load_balancer

internal := {
	"service.beta.kubernetes.io/aws-load-balancer-scheme": "internal",
	"networking.gke.io/load-balancer-type": "Internal",
	"service.beta.kubernetes.io/azure-load-balancer-internal": "true",
}

deny contains msg if {
	not input.resource.metadata.public == "allowed"
	some object in input.manifest.proposed
	object.kind == "Service"
	object.spec.type == "LoadBalancer"
	not is_internal(object)
	msg := sprintf("Service %s would get a public load balancer", [object.metadata.name])
}

is_internal(object) if {
	some key, value in internal
	object.metadata.annotations[key] == value
}
