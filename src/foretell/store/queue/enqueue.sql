-- Queue each (step, id) once, at the earliest time that anybody asked for.
--
-- The library's own enqueue can skip a duplicate or raise its priority, not bring it forward. And
-- skipping is not enough: DO UPDATE locks the queued row even where its condition is false, so that
-- no worker runs it before this transaction commits what the run has to see.
-- Sorted by key, so that two transactions never wait for each other.
INSERT INTO pgqueuer AS job (priority, entrypoint, payload, dedupe_key, execute_after, status)
SELECT 0, step, convert_to(id, 'UTF8'), step || ':' || id, now() + min(after), 'queued'
FROM unnest(%(steps)s::text[], %(ids)s::text[], %(afters)s::interval[]) AS wanted (step, id, after)
GROUP BY step, id
ORDER BY step || ':' || id
ON CONFLICT (dedupe_key) WHERE status IN ('queued', 'picked') AND dedupe_key IS NOT NULL
DO UPDATE SET execute_after = excluded.execute_after
WHERE job.execute_after > excluded.execute_after
