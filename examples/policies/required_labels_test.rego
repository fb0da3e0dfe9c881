package foretell.required_labels_test

import data.foretell.required_labels as rule

seen(metadata) := {"manifest": {"proposed": [{"kind": "Service", "metadata": metadata}]}}

test_no_labels_at_all_are_denied if {
	count(rule.deny) == 2 with input as seen({"name": "web"})
}

test_an_empty_label_is_none if {
	metadata := {"name": "web", "labels": {"team": "", "app.kubernetes.io/name": "web"}}
	rule.deny == {"Service/web has no label team"} with input as seen(metadata)
}

test_both_are_fine if {
	metadata := {"name": "web", "labels": {"team": "a", "app.kubernetes.io/name": "web"}}
	count(rule.deny) == 0 with input as seen(metadata)
}
