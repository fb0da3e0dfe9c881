-- Invocations: anchor rows of deployment_plan_target_result and the rows that join them.
--
-- What is written of one invocation does not wait for the disk: a crash of the server may lose the
-- last moments of it, rows and jobs alike, and then the agent is asked again with an earlier state,
-- which it promises to take. The commit that completes the plan waits, for all of it.

-- name: copy_targets
COPY deployment_plan_target (
    id, plan_id, environment_id, resource_id, environment_name, resource_name,
    resource_identifier, change
) FROM STDIN

-- name: copy_invocations
COPY deployment_plan_target_result (
    id, invocation_id, target_id, plan_id, place, agent_id, agent_name, agent_type,
    dispatch_context, timeout_after, status, reason, message, completed_at
) FROM STDIN

-- Alone it is committed at once: what is counted is that somebody asks now.
-- name: start alone
UPDATE deployment_plan_target_result AS anchor
SET started_at = COALESCE(anchor.started_at, %(at)s), attempts = anchor.attempts + 1
FROM deployment_plan AS plan
WHERE anchor.id = %(invocation_id)s
    AND anchor.status = 'computing'
    AND anchor.answered_at IS NULL
    AND plan.id = anchor.plan_id
RETURNING anchor.id, anchor.plan_id, anchor.target_id, anchor.dispatch_context,
    anchor.timeout_after, anchor.status, anchor.agent_state, anchor.message, anchor.started_at,
    anchor.attempts,
    plan.status, plan.reason, plan.deadline_at,
    EXISTS (SELECT FROM policy WHERE policy.workspace_id = plan.workspace_id),
    set_config('synchronous_commit', 'off', TRUE)

-- name: answered
SELECT anchor.id, anchor.plan_id, anchor.target_id, anchor.dispatch_context,
    anchor.timeout_after, anchor.status, anchor.agent_state, anchor.message, anchor.started_at,
    anchor.attempts,
    plan.status, plan.reason, plan.deadline_at,
    EXISTS (SELECT FROM policy WHERE policy.workspace_id = plan.workspace_id),
    part.kind, part.current, part.proposed, part.has_changes, part.content_hash,
    part.plan_key_id, part.diff, part.additions, part.deletions, part.resources,
    part.resource_texts, part.suppressed, part.policy_sides
FROM deployment_plan_target_result AS anchor
JOIN deployment_plan AS plan ON plan.id = anchor.plan_id
JOIN deployment_plan_target_result AS part
    ON part.id = anchor.id OR (part.invocation_id = anchor.id AND part.position > 0)
WHERE anchor.id = %(invocation_id)s
    AND anchor.status = 'computing'
    AND anchor.answered_at IS NOT NULL
ORDER BY part.position

-- Of a kind, too, the invocation that it is a part of.
-- name: judged
SELECT anchor.id, anchor.plan_id, anchor.target_id, anchor.dispatch_context,
    anchor.timeout_after, anchor.status, anchor.agent_state, anchor.message, anchor.started_at,
    anchor.attempts,
    plan.status, plan.reason, plan.deadline_at,
    EXISTS (SELECT FROM policy WHERE policy.workspace_id = plan.workspace_id),
    part.kind, part.current, part.proposed, part.has_changes, part.content_hash,
    part.plan_key_id, part.diff, part.additions, part.deletions, part.resources,
    part.resource_texts, part.suppressed, part.policy_sides
FROM deployment_plan_target_result AS anchor
JOIN deployment_plan AS plan ON plan.id = anchor.plan_id
JOIN deployment_plan_target_result AS part
    ON part.id = anchor.id OR (part.invocation_id = anchor.id AND part.position > 0)
WHERE anchor.plan_id = %(plan_id)s
    AND anchor.id = (
        SELECT invocation_id FROM deployment_plan_target_result WHERE id = %(id)s
    )
    AND anchor.answered_at IS NOT NULL
ORDER BY part.position

-- name: save_pending
UPDATE deployment_plan_target_result
SET agent_state = %(state)s, message = %(message)s
WHERE id = %(invocation_id)s AND status = 'computing' AND answered_at IS NULL
RETURNING set_config('synchronous_commit', 'off', TRUE)

-- name: save_message
UPDATE deployment_plan_target_result
SET message = %(message)s
WHERE id = %(invocation_id)s AND status = 'computing'
RETURNING set_config('synchronous_commit', 'off', TRUE)

-- name: save_done
UPDATE deployment_plan_target_result
SET status = %(status)s, answered_at = %(at)s, completed_at = %(completed_at)s,
    reason = %(reason)s, message = %(message)s, phases = %(phases)s, agent_state = NULL, kind = %(kind)s,
    has_changes = %(has_changes)s, content_hash = %(content_hash)s,
    plan_key_id = %(plan_key_id)s, current = %(current)s, proposed = %(proposed)s,
    diff = %(diff)s, additions = %(additions)s, deletions = %(deletions)s,
    suppressed = %(suppressed)s, resources = %(resources)s, resource_texts = %(resource_texts)s,
    policy_sides = %(policy_sides)s
WHERE id = %(invocation_id)s AND status = 'computing' AND answered_at IS NULL
RETURNING CASE WHEN %(settled)s THEN pg_notify('foretell_plan', plan_id::text)::text END,
    set_config('synchronous_commit', 'off', TRUE)

-- name: save_done_kinds
WITH anchor AS (
    UPDATE deployment_plan_target_result
    SET status = %(status)s, answered_at = %(at)s, completed_at = %(completed_at)s,
        reason = %(reason)s, message = %(message)s, phases = %(phases)s, agent_state = NULL, kind = %(kind)s,
        has_changes = %(has_changes)s, content_hash = %(content_hash)s,
        plan_key_id = %(plan_key_id)s, current = %(current)s, proposed = %(proposed)s,
        diff = %(diff)s, additions = %(additions)s, deletions = %(deletions)s,
        suppressed = %(suppressed)s, resources = %(resources)s,
        resource_texts = %(resource_texts)s, policy_sides = %(policy_sides)s
    WHERE id = %(invocation_id)s AND status = 'computing' AND answered_at IS NULL
    RETURNING id, target_id, plan_id, place
),
more AS (
    INSERT INTO deployment_plan_target_result (
        invocation_id, target_id, plan_id, place, position, status, answered_at, completed_at,
        kind, has_changes, content_hash, plan_key_id, current, proposed, diff, additions,
        deletions, suppressed, resources, resource_texts, policy_sides
    )
    SELECT anchor.id, anchor.target_id, anchor.plan_id, anchor.place, part.position, 'completed',
        %(at)s, %(at)s, part.kind, part.has_changes, part.content_hash, part.plan_key_id,
        part.current, part.proposed, part.diff, part.additions, part.deletions, part.suppressed,
        part.resources, part.resource_texts, part.policy_sides
    FROM anchor, unnest(
        %(more_kind)s::text[], %(more_has_changes)s::boolean[], %(more_content_hash)s::text[],
        %(more_plan_key_id)s::text[], %(more_current)s::text[], %(more_proposed)s::text[], %(more_diff)s::text[],
        %(more_additions)s::bigint[], %(more_deletions)s::bigint[], %(more_suppressed)s::bigint[],
        %(more_resources)s::json[], %(more_resource_texts)s::json[],
        %(more_policy_sides)s::json[]
    ) WITH ORDINALITY AS part (
        kind, has_changes, content_hash, plan_key_id, current, proposed, diff, additions,
        deletions, suppressed, resources, resource_texts, policy_sides, position
    )
)
SELECT CASE WHEN %(settled)s THEN pg_notify('foretell_plan', plan_id::text)::text END,
    set_config('synchronous_commit', 'off', TRUE)
FROM anchor

-- name: save_settled
UPDATE deployment_plan_target_result
SET status = %(status)s, reason = %(reason)s, message = %(message)s, completed_at = %(at)s,
    agent_state = NULL
WHERE id = %(invocation_id)s AND status = 'computing'
RETURNING pg_notify('foretell_plan', plan_id::text)::text,
    set_config('synchronous_commit', 'off', TRUE)

-- name: save_verdicts
WITH anchor AS (
    UPDATE deployment_plan_target_result
    SET status = 'completed', completed_at = %(at)s
    WHERE id = %(invocation_id)s AND status = 'computing' AND answered_at IS NOT NULL
    RETURNING id, plan_id
),
verdict AS (
    INSERT INTO deployment_plan_target_result_validation (
        result_id, position, policy, rule, status, body, created_at
    )
    SELECT anchor.id, part.position, part.policy, part.rule, part.status, part.body, %(at)s
    FROM anchor, unnest(
        %(policies)s::text[], %(rules)s::text[], %(statuses)s::text[], %(bodies)s::json[]
    ) WITH ORDINALITY AS part (policy, rule, status, body, position)
)
SELECT pg_notify('foretell_plan', plan_id::text)::text,
    set_config('synchronous_commit', 'off', TRUE)
FROM anchor

-- name: open_invocations
SELECT count(*) FROM deployment_plan_target_result
WHERE plan_id = %(plan_id)s AND status = 'computing'

-- name: live_invocations
SELECT id FROM deployment_plan_target_result WHERE status = 'computing'

-- name: targets
SELECT target.id, target.environment_id, target.environment_name, target.resource_id,
    target.resource_name, target.resource_identifier, target.change,
    part.invocation_id, part.position, part.agent_id, part.agent_name, part.agent_type,
    part.status, part.reason, part.message, part.phases, part.answered_at IS NOT NULL,
    part.id, part.kind, part.has_changes, part.content_hash, part.plan_key_id, part.diff,
    part.additions, part.deletions, part.resources, part.suppressed,
    CASE WHEN part.position = 0 THEN (
        SELECT json_agg(verdict.body ORDER BY verdict.position)
        FROM deployment_plan_target_result_validation AS verdict
        WHERE verdict.result_id = part.id
    ) END
FROM deployment_plan_target AS target
LEFT JOIN deployment_plan_target_result AS part ON part.target_id = target.id
WHERE target.plan_id = %(plan_id)s
ORDER BY target.environment_name, target.resource_name, target.resource_identifier, target.id,
    part.place, part.invocation_id, part.position

-- name: result
SELECT anchor.status, part.kind, part.current, part.proposed, part.has_changes,
    part.content_hash, part.plan_key_id, part.diff, part.additions, part.deletions,
    part.resources, part.resource_texts, part.suppressed, part.policy_sides
FROM deployment_plan_target_result AS part
JOIN deployment_plan_target_result AS anchor ON anchor.id = part.invocation_id
WHERE part.id = %(result_id)s AND part.plan_id = %(plan_id)s AND part.answered_at IS NOT NULL

-- name: open_jobs
SELECT CASE WHEN answered_at IS NULL THEN 'invoke' ELSE 'validate' END, id
FROM deployment_plan_target_result
WHERE plan_id = %(plan_id)s AND status = 'computing'
ORDER BY id

-- By payload, not by key: a job that is running has given its key back.
-- name: stalled_jobs
WITH wanted (step, id) AS (
    SELECT CASE WHEN answered_at IS NULL THEN 'invoke' ELSE 'validate' END, id::text
    FROM deployment_plan_target_result
    WHERE status = 'computing'
    UNION ALL
    SELECT CASE WHEN fanned_out_at IS NULL THEN 'fan_out' ELSE 'settle' END, plan.id::text
    FROM deployment_plan AS plan
    WHERE plan.status = 'computing'
        AND NOT EXISTS (
            SELECT FROM deployment_plan_target_result AS result
            WHERE result.plan_id = plan.id AND result.status = 'computing'
        )
    UNION ALL
    SELECT DISTINCT 'pull_request', subject FROM github_delivery WHERE event IS NOT NULL
)
SELECT wanted.step, wanted.id
FROM wanted
WHERE NOT EXISTS (
    SELECT FROM pgqueuer AS job
    WHERE job.entrypoint = wanted.step
        AND job.payload = convert_to(wanted.id, 'UTF8')
        AND job.status IN ('queued', 'picked')
)
ORDER BY wanted.step, wanted.id
