package foretell.no_deletes_in_production_test

import data.foretell.no_deletes_in_production as rule

seen(environment, action) := {
	"environment": {"name": environment},
	"manifest": {"changes": [{"kind": "Service", "name": "web", "action": action}]},
}

test_a_delete_in_production_is_denied if {
	rule.deny == {"Service web would be deleted (delete)"} with input as seen("production", "delete")
}

test_a_replacement_is_a_delete if {
	count(rule.deny) == 1 with input as seen("production", "replace")
}

test_a_change_is_fine if {
	count(rule.deny) == 0 with input as seen("production", "modify")
}

test_elsewhere_deletes_are_fine if {
	count(rule.deny) == 0 with input as seen("staging", "delete")
}
