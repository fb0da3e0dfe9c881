# A database is changed in place, never replaced or deleted: its data goes with it.
package foretell.no_database_replacement

databases := {
	"aws_db_instance",
	"aws_rds_cluster",
	"azurerm_postgresql_flexible_server",
	"google_sql_database_instance",
}

deny contains {"msg": msg, "address": change.name} if {
	some change in input.plan.changes
	change.kind in databases
	change.action in {"replace", "delete"}
	msg := sprintf("%s would be lost (%s)", [change.name, change.action])
}

warn contains "it is unknown whether the plan changes anything: look at it" if {
	input.plan.has_changes == null
}
