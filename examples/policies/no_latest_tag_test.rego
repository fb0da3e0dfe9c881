package foretell.no_latest_tag_test

import data.foretell.no_latest_tag as rule

deployment(container) := {
	"kind": "Deployment",
	"metadata": {"name": "web"},
	"spec": {"template": {"spec": {"containers": [container]}}},
}

seen(object) := {"manifest": {"proposed": [object]}}

test_latest_is_denied if {
	count(rule.deny) == 1 with input as seen(deployment({"image": "registry.example/web:latest"}))
}

test_no_tag_is_latest if {
	count(rule.deny) == 1 with input as seen(deployment({"image": "registry.example:5000/web"}))
}

test_a_version_is_fine if {
	count(rule.deny) == 0 with input as seen(deployment({"image": "registry.example:5000/web:1.4"}))
}

test_a_digest_is_fine if {
	count(rule.deny) == 0 with input as seen(deployment({"image": "web@sha256:0000"}))
}
