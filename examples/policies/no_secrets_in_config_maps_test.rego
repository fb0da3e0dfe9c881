package foretell.no_secrets_in_config_maps_test

import data.foretell.no_secrets_in_config_maps as rule

seen(data_of_map) := {"manifest": {"proposed": [{
	"kind": "ConfigMap",
	"metadata": {"name": "settings"},
	"data": data_of_map,
}]}}

test_a_key_is_denied_without_its_text if {
	rule.deny == {"ConfigMap settings: tls looks like a secret"} with input as seen({"tls": "-----BEGIN RSA PRIVATE KEY-----"})
}

test_a_password_in_an_address_is_denied if {
	count(rule.deny) == 1 with input as seen({"url": "postgres://shop:hunter2@db/shop"})
}

test_a_name_that_says_password_is_denied if {
	count(rule.deny) == 1 with input as seen({"DB_PASSWORD": "x"})
}

test_plain_settings_are_fine if {
	count(rule.deny) == 0 with input as seen({"url": "https://shop.example/", "level": "info", "TOKEN": ""})
}
