# No policy of AWS allows every action. Reads the redacted plan as Terraform prints it.
package foretell.no_wildcard_iam

deny contains "the plan is no JSON document, so its policies can't be read" if is_string(input.plan.proposed)

deny contains msg if {
	some change in input.plan.proposed.resource_changes
	some action in change.change.actions
	action in {"create", "update"}
	document := json.unmarshal(change.change.after.policy)
	some statement in as_list(document.Statement)
	statement.Effect == "Allow"
	some allowed in as_list(statement.Action)
	endswith(allowed, "*")
	msg := sprintf("%s allows %s", [change.address, allowed])
}

as_list(value) := value if is_array(value)

as_list(value) := [value] if not is_array(value)
