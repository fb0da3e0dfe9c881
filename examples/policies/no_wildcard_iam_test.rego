package foretell.no_wildcard_iam_test

import data.foretell.no_wildcard_iam as rule

seen(statement) := {"plan": {"proposed": {"resource_changes": [{
	"address": "aws_iam_policy.a",
	"change": {"actions": ["create"], "after": {"policy": json.marshal({"Statement": statement})}},
}]}}}

test_every_action_is_denied if {
	statement := [{"Effect": "Allow", "Action": "*", "Resource": "*"}]
	rule.deny == {"aws_iam_policy.a allows *"} with input as seen(statement)
}

test_every_action_of_a_service_is_denied if {
	statement := {"Effect": "Allow", "Action": ["s3:GetObject", "s3:*"]}
	rule.deny == {"aws_iam_policy.a allows s3:*"} with input as seen(statement)
}

test_a_denied_wildcard_is_fine if {
	count(rule.deny) == 0 with input as seen({"Effect": "Deny", "Action": "*"})
}

test_named_actions_are_fine if {
	count(rule.deny) == 0 with input as seen({"Effect": "Allow", "Action": "s3:GetObject"})
}

test_a_plan_that_can_not_be_read_is_denied if {
	count(rule.deny) == 1 with input as {"plan": {"proposed": "text"}}
}
