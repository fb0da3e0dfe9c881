-- Pull requests, and the events that told of them.

-- name: receive
INSERT INTO github_delivery (id, digest, subject, event, received_at)
VALUES (%(id)s, %(digest)s, %(subject)s, %(event)s, %(received_at)s)
ON CONFLICT DO NOTHING
RETURNING id

-- Not waited for: whoever waits would hold a connection, and come back later just as well.
-- name: hold
SELECT pg_try_advisory_xact_lock(hashtextextended(%(subject)s, 1))

-- name: pending
SELECT id, digest, subject, event, received_at
FROM github_delivery
WHERE subject = %(subject)s AND event IS NOT NULL
ORDER BY position

-- name: finish
UPDATE github_delivery SET event = NULL WHERE id = ANY(%(ids)s)

-- name: forget_deliveries
DELETE FROM github_delivery WHERE received_at < %(before)s

-- name: forget_pull_requests
DELETE FROM pull_request WHERE saved_at < %(before)s

-- name: pull_request_state
SELECT body FROM pull_request WHERE subject = %(subject)s

-- name: save_pull_request_state
INSERT INTO pull_request (subject, body, saved_at) VALUES (%(subject)s, %(body)s, %(at)s)
ON CONFLICT (subject) DO UPDATE SET body = EXCLUDED.body, saved_at = EXCLUDED.saved_at

-- name: items_naming
SELECT workspace_id, id FROM deployment WHERE position(lower(%(word)s) IN lower(body::text)) > 0
UNION ALL
SELECT workspace_id, id FROM job_agent WHERE position(lower(%(word)s) IN lower(body::text)) > 0
ORDER BY workspace_id, id

-- name: plans_of_pull_request
SELECT @plan_columns
FROM deployment_plan
WHERE lower(request #>> '{github,owner}') = lower(%(owner)s)
    AND lower(request #>> '{github,repo}') = lower(%(repo)s)
    AND request #>> '{github,pr_number}' = %(number)s::text
    AND supersedes_key IS NOT NULL AND status <> 'failed' AND NOT is_retired
    AND (%(key_prefix)s = '' OR starts_with(idempotency_key, %(key_prefix)s))
ORDER BY created_at, id
FOR NO KEY UPDATE

-- name: plans_of_commit
SELECT DISTINCT ON (deployment_id, request #>> '{github,pr_number}',
        request ->> 'environment_selector', request ->> 'resource_selector')
    @plan_columns
FROM deployment_plan
WHERE request #>> '{github,sha}' = %(sha)s
    AND lower(request #>> '{github,owner}') = lower(%(owner)s)
    AND lower(request #>> '{github,repo}') = lower(%(repo)s)
    AND NOT is_retired
ORDER BY deployment_id, request #>> '{github,pr_number}', request ->> 'environment_selector',
    request ->> 'resource_selector', created_at DESC, id DESC
