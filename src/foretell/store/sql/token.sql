-- Who may come in.

-- name: insert_token
INSERT INTO token (id, name, role, digest, workspace_id, created_at, expires_at, revoked_at)
VALUES (
    %(id)s, %(name)s, %(role)s, %(digest)s, %(workspace_id)s, %(created_at)s, %(expires_at)s,
    %(revoked_at)s
)

-- name: token
SELECT id, name, role, digest, workspace_id, created_at, expires_at, revoked_at
FROM token WHERE digest = %(digest)s

-- name: tokens
SELECT id, name, role, digest, workspace_id, created_at, expires_at, revoked_at
FROM token
WHERE %(workspace_id)s::uuid IS NULL OR workspace_id = %(workspace_id)s
ORDER BY created_at DESC, id DESC

-- name: revoke_token
UPDATE token SET revoked_at = %(at)s WHERE id = %(token_id)s AND revoked_at IS NULL
RETURNING id
