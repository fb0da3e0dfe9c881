-- What was shown where, and whose turn it is to write.

-- name: find_thread
INSERT INTO github_thread (
    deployment_id, owner, repo, pr_number, at_commit, plan_id, plan_created_at
)
VALUES (
    %(deployment_id)s, %(owner)s, %(repo)s, %(pr_number)s, %(at_commit)s, %(plan_id)s,
    %(plan_created_at)s
)
ON CONFLICT (owner, repo, pr_number, at_commit, deployment_id) DO UPDATE SET
    plan_id = CASE
        WHEN (EXCLUDED.plan_created_at, EXCLUDED.plan_id)
            > (github_thread.plan_created_at, github_thread.plan_id)
        THEN EXCLUDED.plan_id ELSE github_thread.plan_id
    END,
    plan_created_at = greatest(EXCLUDED.plan_created_at, github_thread.plan_created_at),
    touched_at = now()
RETURNING
    plan_id,
    comment_id,
    comment_digest,
    CASE WHEN told_commit = %(commit)s THEN before_commit ELSE told_commit END,
    CASE WHEN told_commit = %(commit)s THEN before ELSE told END,
    EXISTS (
        SELECT FROM github_thread AS other
        WHERE other.owner = %(owner)s AND other.repo = %(repo)s
            AND other.deployment_id <> %(deployment_id)s
    )

-- name: hold_thread
UPDATE github_thread
SET held_by = %(holder)s, held_until = clock_timestamp() + %(hold_for)s::interval
WHERE deployment_id = %(deployment_id)s AND owner = %(owner)s AND repo = %(repo)s
    AND pr_number = %(pr_number)s AND at_commit = %(at_commit)s
    AND (held_by = %(holder)s OR held_until <= clock_timestamp())
RETURNING plan_id

-- name: release_thread
UPDATE github_thread SET held_by = '', held_until = '-infinity'
WHERE deployment_id = %(deployment_id)s AND owner = %(owner)s AND repo = %(repo)s
    AND pr_number = %(pr_number)s AND at_commit = %(at_commit)s AND held_by = %(holder)s

-- name: save_comment
UPDATE github_thread SET comment_id = %(comment_id)s, comment_digest = %(digest)s
WHERE deployment_id = %(deployment_id)s AND owner = %(owner)s AND repo = %(repo)s
    AND pr_number = %(pr_number)s AND at_commit = %(at_commit)s

-- name: save_told
UPDATE github_thread SET
    before_commit = CASE WHEN told_commit = %(commit)s THEN before_commit ELSE told_commit END,
    before = CASE WHEN told_commit = %(commit)s THEN before ELSE told END,
    told_commit = %(commit)s,
    told = %(told)s
WHERE deployment_id = %(deployment_id)s AND owner = %(owner)s AND repo = %(repo)s
    AND pr_number = %(pr_number)s AND at_commit = %(at_commit)s

-- name: claim_check
INSERT INTO github_check (
    deployment_id, owner, repo, pr_number, commit, external_id, plan_id, plan_created_at
)
VALUES (
    %(deployment_id)s, %(owner)s, %(repo)s, %(pr_number)s, %(commit)s, %(external_id)s,
    %(plan_id)s, %(plan_created_at)s
)
ON CONFLICT (owner, repo, commit, deployment_id, external_id) DO UPDATE SET
    plan_id = EXCLUDED.plan_id,
    plan_created_at = EXCLUDED.plan_created_at,
    pr_number = EXCLUDED.pr_number,
    touched_at = now()
WHERE (EXCLUDED.plan_created_at, EXCLUDED.plan_id)
    >= (github_check.plan_created_at, github_check.plan_id)
RETURNING external_id, commit, name, check_id, digest, is_open

-- name: save_check
UPDATE github_check
SET name = %(name)s, check_id = %(check_id)s, digest = %(digest)s, is_open = %(is_open)s
WHERE deployment_id = %(deployment_id)s AND owner = %(owner)s AND repo = %(repo)s
    AND commit = %(commit)s AND external_id = %(external_id)s

-- name: outdated_checks
SELECT external_id, commit, name, check_id, digest, is_open
FROM github_check
WHERE deployment_id = %(deployment_id)s AND owner = %(owner)s AND repo = %(repo)s
    AND pr_number = %(pr_number)s AND is_open
    AND CASE
        WHEN %(own)s THEN plan_id = %(plan_id)s
        ELSE commit <> %(commit)s AND plan_created_at <= %(plan_created_at)s
    END
ORDER BY name, external_id

-- name: forget_threads
DELETE FROM github_thread WHERE touched_at < now() - %(kept_for)s::interval

-- name: forget_checks
DELETE FROM github_check WHERE touched_at < now() - %(kept_for)s::interval
