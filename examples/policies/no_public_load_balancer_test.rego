package foretell.no_public_load_balancer_test

import data.foretell.no_public_load_balancer as rule

service(annotations) := {
	"kind": "Service",
	"metadata": {"name": "web", "annotations": annotations},
	"spec": {"type": "LoadBalancer"},
}

seen(object) := {"resource": {"metadata": {}}, "manifest": {"proposed": [object]}}

test_a_public_one_is_denied if {
	count(rule.deny) == 1 with input as seen(service({}))
}

test_an_internal_one_is_fine if {
	annotations := {"networking.gke.io/load-balancer-type": "Internal"}
	count(rule.deny) == 0 with input as seen(service(annotations))
}

test_a_place_may_allow_it if {
	count(rule.deny) == 0 with input as seen(service({})) with input.resource.metadata.public as "allowed"
}
