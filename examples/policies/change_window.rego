# Production changes on working days from 8 to 16 o'clock; what changes nothing may go any time.
package foretell.change_window

zone := "Europe/Berlin"

closed_days := {"Saturday", "Sunday"}

deny contains msg if {
	input.environment.name == "production"
	some kind in object.keys(input)
	changes(input[kind])
	closed(time.now_ns())
	msg := "production is changed Monday to Friday from 8 to 16 o'clock only"
}

# Unknown is not "no".
changes(result) if result.has_changes

changes(result) if result.has_changes == null

closed(now) if time.weekday([now, zone]) in closed_days

closed(now) if {
	[hour, _, _] := time.clock([now, zone])
	hour < 8
}

closed(now) if {
	[hour, _, _] := time.clock([now, zone])
	hour >= 16
}
