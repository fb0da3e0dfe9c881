# Somebody owns every object.
package foretell.required_labels

required := ["app.kubernetes.io/name", "team"]

deny contains msg if {
	some object in input.manifest.proposed
	some label in required
	value_of(object, label) == ""
	msg := sprintf("%s/%s has no label %s", [object.kind, object.metadata.name, label])
}

value_of(item, label) := object.get(item, ["metadata", "labels", label], "")
