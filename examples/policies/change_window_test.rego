package foretell.change_window_test

import data.foretell.change_window as rule

at(text) := time.parse_rfc3339_ns(text)

test_a_working_day_is_open if {
	not rule.closed(at("2026-05-04T10:00:00Z"))
}

test_the_hours_are_those_of_the_zone if {
	not rule.closed(at("2026-05-04T06:00:00Z"))
	rule.closed(at("2026-05-04T05:59:59Z"))
	rule.closed(at("2026-05-04T14:00:00Z"))
}

test_a_weekend_is_closed if {
	rule.closed(at("2026-05-03T10:00:00Z"))
}

test_unknown_counts_as_a_change if {
	rule.changes({"has_changes": null})
	not rule.changes({"has_changes": false})
}

test_staging_has_no_window if {
	count(rule.deny) == 0 with input as {"environment": {"name": "staging"}, "manifest": {"has_changes": true}}
}
