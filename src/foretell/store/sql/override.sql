-- Overrides of a plan's denials: rows of deployment_plan_override, which are only ever added.

-- name: insert_override
INSERT INTO deployment_plan_override (
    id, workspace_id, deployment_id, plan_id, target_id, policy, rule, person, token_id, reason,
    subject, created_at
) VALUES (
    %(id)s, %(workspace_id)s, %(deployment_id)s, %(plan_id)s, %(target_id)s, %(policy)s, %(rule)s,
    %(person)s, %(token_id)s, %(reason)s, %(subject)s, %(at)s
)

-- name: overrides
SELECT person, reason, created_at, policy, rule, target_id
FROM deployment_plan_override
WHERE plan_id = %(plan_id)s
ORDER BY created_at, id

-- name: show_overridden
UPDATE deployment_plan
SET document = %(document)s, result = %(result)s, override_count = override_count + 1
WHERE id = %(plan_id)s AND status = 'completed'
RETURNING pg_notify('foretell_plan', id::text)::text

-- name: override_log
SELECT id, deployment_id, plan_id, target_id, policy, rule, person, token_id, reason, subject,
    created_at
FROM deployment_plan_override
WHERE workspace_id = %(workspace_id)s
    AND (
        %(before)s::uuid IS NULL
        OR (created_at, id) < (
            SELECT created_at, id FROM deployment_plan_override WHERE id = %(before)s
        )
    )
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s
