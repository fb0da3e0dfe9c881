# What looks like a secret belongs into a Secret. The message names the key and never the value.
package foretell.no_secrets_in_config_maps

shapes := [
	`-----BEGIN [A-Z ]*PRIVATE KEY-----`,
	`\bAKIA[0-9A-Z]{16}\b`,
	`\bgh[pousr]_[A-Za-z0-9]{36}`,
	`[a-z+]+://[^/\s:@]+:[^/\s:@]+@`,
]

deny contains msg if {
	some object in input.manifest.proposed
	object.kind == "ConfigMap"
	some key, value in object.data
	looks_secret(key, value)
	msg := sprintf("ConfigMap %s: %s looks like a secret", [object.metadata.name, key])
}

looks_secret(_, value) if {
	some shape in shapes
	regex.match(shape, value)
}

looks_secret(key, value) if {
	regex.match(`(?i)(password|passwd|api[_-]?key|token)$`, key)
	value != ""
}
