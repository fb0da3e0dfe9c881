package foretell.limits_set_test

import data.foretell.limits_set as rule

deployment(container) := {
	"kind": "Deployment",
	"metadata": {"name": "web"},
	"spec": {"template": {"spec": {"containers": [container]}}},
}

seen(object) := {"manifest": {"proposed": [object]}}

limited(memory) := {"name": "main", "resources": {"limits": {"memory": memory}}}

test_no_limit_is_denied if {
	expected := {"Deployment/web: container main has no memory limit"}
	rule.deny == expected with input as seen(deployment({"name": "main"}))
}

test_a_limit_is_fine if {
	count(rule.deny) == 0 with input as seen(deployment(limited("512Mi")))
}

test_too_much_is_denied if {
	count(rule.deny) == 1 with input as seen(deployment(limited("9Gi")))
}

test_bytes_as_a_number_are_a_limit if {
	count(rule.deny) == 0 with input as seen(deployment(limited(1048576)))
}

test_no_request_is_only_a_warning if {
	count(rule.warn) == 1 with input as seen(deployment(limited("1Gi")))
}
