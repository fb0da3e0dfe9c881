package foretell.replica_bounds_test

import data.foretell.replica_bounds as rule

web(spec) := {"kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}

scaler(least) := {
	"kind": "HorizontalPodAutoscaler",
	"metadata": {"name": "web"},
	"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "minReplicas": least, "maxReplicas": 10},
}

seen(objects) := {"environment": {"name": "production"}, "manifest": {"proposed": objects}}

test_one_is_too_few if {
	rule.deny == {"Deployment/web has 1 replicas, expected 2 to 30"} with input as seen([web({"replicas": 1})])
}

test_none_said_is_one if {
	count(rule.deny) == 1 with input as seen([web({})])
}

test_many_are_too_many if {
	count(rule.deny) == 1 with input as seen([web({"replicas": 31})])
}

test_two_are_fine if {
	count(rule.deny) == 0 with input as seen([web({"replicas": 2})])
}

test_an_autoscaler_decides if {
	count(rule.deny) == 0 with input as seen([web({}), scaler(3)])
	count(rule.deny) == 1 with input as seen([web({}), scaler(1)])
}

test_elsewhere_one_is_enough if {
	count(rule.deny) == 0 with input as seen([web({})]) with input.environment.name as "staging"
}
