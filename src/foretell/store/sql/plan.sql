-- Plans: rows of deployment_plan.

-- What a plan is read from, in the order of `rows.plan_of`.
-- columns: plan_columns
id, workspace_id, deployment_id, request, created_at, deadline_at, expires_at, status,
reason, fanned_out_at, completed_at, message, override_count

-- name: usage
SELECT
    count(*) FILTER (WHERE deployment_id = %(deployment_id)s AND created_at >= %(since)s),
    count(*) FILTER (WHERE deployment_id = %(deployment_id)s AND status = 'computing'),
    count(*) FILTER (WHERE created_at >= %(since)s),
    count(*) FILTER (WHERE status = 'computing')
FROM deployment_plan
WHERE workspace_id = %(workspace_id)s AND (created_at >= %(since)s OR status = 'computing')

-- name: plan_by_key
SELECT @plan_columns, body_digest
FROM deployment_plan
WHERE workspace_id = %(workspace_id)s
    AND deployment_id = %(deployment_id)s
    AND idempotency_key = %(key)s

-- name: insert_plan
INSERT INTO deployment_plan (
    id, workspace_id, deployment_id, request, created_at, deadline_at, expires_at, status, reason,
    fanned_out_at, completed_at, supersedes_key, idempotency_key, body_digest, basis
) VALUES (
    %(id)s, %(workspace_id)s, %(deployment_id)s, %(request)s, %(created_at)s, %(deadline_at)s,
    %(expires_at)s, %(status)s, %(reason)s, %(fanned_out_at)s, %(completed_at)s,
    %(supersedes_key)s, %(idempotency_key)s, %(body_digest)s, %(basis)s
)

-- name: plan
SELECT @plan_columns
FROM deployment_plan
WHERE id = %(plan_id)s

-- name: plan_locked
SELECT @plan_columns
FROM deployment_plan
WHERE id = %(plan_id)s
FOR NO KEY UPDATE

-- name: lock_key
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 0))

-- name: plans_under
SELECT @plan_columns
FROM deployment_plan
WHERE supersedes_key = %(key)s AND status <> 'failed' AND NOT is_retired
ORDER BY created_at, id
FOR NO KEY UPDATE

-- name: stop_plan
UPDATE deployment_plan
SET status = %(status)s, reason = %(reason)s, completed_at = %(completed_at)s,
    message = %(message)s
WHERE id = %(plan_id)s AND status = 'computing'
RETURNING pg_notify('foretell_plan', id::text)::text

-- name: retire_plan
UPDATE deployment_plan
SET is_retired = TRUE, expires_at = LEAST(expires_at, %(expires_at)s)
WHERE id = %(plan_id)s AND status <> 'computing'

-- name: set_fanned_out
UPDATE deployment_plan
SET fanned_out_at = %(at)s
WHERE id = %(plan_id)s AND status = 'computing' AND fanned_out_at IS NULL
RETURNING pg_notify('foretell_plan', id::text)::text

-- name: complete_plan
UPDATE deployment_plan
SET status = %(status)s, reason = %(reason)s, completed_at = %(completed_at)s,
    document = %(document)s, result = %(result)s
WHERE id = %(plan_id)s AND status = 'computing'
RETURNING pg_notify('foretell_plan', id::text)::text

-- Locked, so that none of them completes while it is being stopped; who is busy is seen next time.
-- name: overdue
SELECT @plan_columns
FROM deployment_plan
WHERE status = 'computing' AND deadline_at <= %(now)s
ORDER BY deadline_at, id
FOR NO KEY UPDATE SKIP LOCKED

-- name: list_plans
SELECT @plan_columns
FROM deployment_plan
WHERE workspace_id = %(workspace_id)s
    AND deployment_id = %(deployment_id)s
    AND (
        %(before)s::uuid IS NULL
        OR (created_at, id) < (SELECT created_at, id FROM deployment_plan WHERE id = %(before)s)
    )
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s

-- name: document
SELECT document FROM deployment_plan WHERE id = %(plan_id)s

-- name: report
SELECT plan.id, workspace.slug, plan.deployment_id, deployment.slug, deployment.name,
    plan.request, plan.status, plan.created_at, plan.expires_at, plan.reason, plan.completed_at,
    plan.fanned_out_at, plan.message
FROM deployment_plan AS plan
JOIN workspace ON workspace.id = plan.workspace_id
JOIN deployment ON deployment.id = plan.deployment_id
WHERE plan.id = %(plan_id)s

-- A plan with an open invocation stays: what it left on the other side must be removed first.
-- name: delete_expired
WITH deleted AS (
    DELETE FROM deployment_plan AS plan
    WHERE plan.expires_at <= %(now)s
        AND plan.status <> 'computing'
        AND NOT EXISTS (
            SELECT FROM deployment_plan_target_result AS result
            WHERE result.plan_id = plan.id AND result.status = 'computing'
        )
    RETURNING plan.id
)
SELECT count(*) FROM deleted

-- All that a plan is fanned out from in one statement, so that it is one reading.
-- name: basis
SELECT 'basis' AS kind, basis AS body, '' AS environment_id, '' AS resource_id, '' AS ref
FROM deployment_plan
WHERE id = %(plan_id)s AND basis IS NOT NULL
UNION ALL
SELECT 'deployed', body, environment_id::text, resource_id::text, ''
FROM deployed
WHERE deployment_id = %(deployment_id)s
UNION ALL
SELECT 'deployments', body, '', '', slug FROM deployment WHERE workspace_id = %(workspace_id)s
UNION ALL
SELECT 'environments', body, '', '', name FROM environment WHERE workspace_id = %(workspace_id)s
UNION ALL
SELECT 'resources', body, '', '', identifier FROM resource WHERE workspace_id = %(workspace_id)s
UNION ALL
SELECT 'job-agents', body, '', '', name FROM job_agent WHERE workspace_id = %(workspace_id)s
UNION ALL
SELECT 'policies', body, '', '', name FROM policy WHERE workspace_id = %(workspace_id)s
ORDER BY ref
