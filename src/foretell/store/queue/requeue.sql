-- Put a worker's running jobs (all, or one) back into the queue, as one move: a job that somebody
-- asked for again in the meantime becomes one with it, at the earlier time.
-- The library's own retry leaves a row without a key, which a second one could stand beside.
WITH taken AS (
    DELETE FROM pgqueuer
    WHERE status = 'picked'
      AND queue_manager_id = %(worker)s
      AND (%(job)s::bigint IS NULL OR id = %(job)s)
    RETURNING entrypoint, payload, attempts
)
INSERT INTO pgqueuer AS job
    (priority, entrypoint, payload, dedupe_key, attempts, execute_after, status)
SELECT
    0, entrypoint, payload, entrypoint || ':' || convert_from(payload, 'UTF8'),
    max(attempts) + %(failures)s, now() + %(after)s, 'queued'
FROM taken
GROUP BY entrypoint, payload
ORDER BY 4
ON CONFLICT (dedupe_key) WHERE status IN ('queued', 'picked') AND dedupe_key IS NOT NULL
DO UPDATE SET
    execute_after = least(job.execute_after, excluded.execute_after),
    attempts = greatest(job.attempts, excluded.attempts)
