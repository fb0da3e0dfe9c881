package foretell.allowed_registries_test

import data.foretell.allowed_registries as rule

deployment(container) := {
	"kind": "Deployment",
	"metadata": {"name": "web"},
	"spec": {"template": {"spec": {"containers": [container]}}},
}

seen(object) := {"manifest": {"proposed": [object]}}

test_an_image_of_ours_is_fine if {
	object := deployment({"image": "registry.example/web:1"})
	count(rule.deny) == 0 with input as seen(object)
}

test_an_image_from_elsewhere_is_denied if {
	object := deployment({"image": "docker.io/library/nginx:1"})
	count(rule.deny) == 1 with input as seen(object)
}

test_a_name_that_only_begins_alike_is_denied if {
	object := deployment({"image": "registry.example.evil.test/web:1"})
	count(rule.deny) == 1 with input as seen(object)
}

test_an_image_of_a_cron_job_counts if {
	pod := {"spec": {"initContainers": [{"image": "nginx"}]}}
	job := {"kind": "CronJob", "metadata": {"name": "nightly"}, "spec": {"jobTemplate": {"spec": {"template": pod}}}}
	rule.deny == {"CronJob/nightly: image nginx is from no allowed registry"} with input as seen(job)
}
