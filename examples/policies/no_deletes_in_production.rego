# Nothing is deleted in production without somebody who says so.
package foretell.no_deletes_in_production

deny contains msg if {
	input.environment.name == "production"
	some kind in object.keys(input)
	some change in input[kind].changes
	change.action in {"delete", "replace"}
	msg := sprintf("%s %s would be deleted (%s)", [change.kind, change.name, change.action])
}
