package foretell.no_database_replacement_test

import data.foretell.no_database_replacement as rule

seen(kind, action) := {"plan": {"has_changes": true, "changes": [{"kind": kind, "name": "aws_db_instance.shop", "action": action}]}}

test_a_replacement_is_denied if {
	some entry in rule.deny with input as seen("aws_db_instance", "replace")
	entry.msg == "aws_db_instance.shop would be lost (replace)"
}

test_a_change_in_place_is_fine if {
	count(rule.deny) == 0 with input as seen("aws_db_instance", "modify")
}

test_other_things_may_be_replaced if {
	count(rule.deny) == 0 with input as seen("aws_instance", "replace")
}

test_unknown_is_not_silent if {
	count(rule.warn) == 1 with input as {"plan": {"has_changes": null, "changes": []}}
}
