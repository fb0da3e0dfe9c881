package foretell.protected_resources_test

import data.foretell.protected_resources as rule

seen(kind, name, action) := {"manifest": {"changes": [{"kind": kind, "name": name, "action": action}]}}

said contains entry.msg if some entry in rule.deny

test_a_protected_object_is_not_changed if {
	said == {"PersistentVolumeClaim data is protected (delete)"} with input as seen("PersistentVolumeClaim", "data", "delete")
}

test_it_may_be_made if {
	count(said) == 0 with input as seen("PersistentVolumeClaim", "data", "add")
}

test_a_pattern_protects_what_it_matches if {
	count(said) == 1 with input as seen("ConfigMap", "billing-rates", "modify")
	count(said) == 0 with input as seen("ConfigMap", "colours", "modify")
}
