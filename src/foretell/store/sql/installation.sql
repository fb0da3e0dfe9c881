-- What there is one of.

-- The update changes nothing: it is how the row that is there is returned.
-- name: installation_key_id
INSERT INTO installation AS known (key_id) VALUES (%(key_id)s)
ON CONFLICT (is_only) DO UPDATE SET key_id = known.key_id
RETURNING known.key_id

-- name: replace_installation_key_id
INSERT INTO installation (key_id) VALUES (%(key_id)s)
ON CONFLICT (is_only) DO UPDATE SET key_id = EXCLUDED.key_id
