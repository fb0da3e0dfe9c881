# Some objects may not be touched by a deployment, whatever its kind; patterns as in globs.
package foretell.protected_resources

protected := [
	{"kind": "PersistentVolumeClaim", "name": "*"},
	{"kind": "Namespace", "name": "*"},
	{"kind": "aws_route53_zone", "name": "*"},
	{"kind": "ConfigMap", "name": "billing-*"},
]

deny contains {"msg": msg, "object": {"kind": change.kind, "name": change.name}} if {
	some kind in object.keys(input)
	some change in input[kind].changes
	not change.action in {"add", "no-op"}
	some entry in protected
	change.kind == entry.kind
	glob.match(entry.name, [], change.name)
	msg := sprintf("%s %s is protected (%s)", [change.kind, change.name, change.action])
}
