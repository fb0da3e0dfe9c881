-- What may be planned, and what is deployed.

-- name: workspaces
SELECT id, slug, name FROM workspace ORDER BY slug

-- name: workspace
SELECT id, slug, name FROM workspace
WHERE id = %(id)s OR slug = %(ref)s
ORDER BY id = %(id)s DESC NULLS LAST
LIMIT 1

-- name: put_workspace
INSERT INTO workspace (id, slug, name) VALUES (%(id)s, %(slug)s, %(name)s)
ON CONFLICT (id) DO UPDATE SET slug = EXCLUDED.slug, name = EXCLUDED.name

-- name: inventory
SELECT 'deployments' AS kind, body, slug AS ref
FROM deployment WHERE workspace_id = %(workspace_id)s
UNION ALL
SELECT 'environments', body, name FROM environment WHERE workspace_id = %(workspace_id)s
UNION ALL
SELECT 'resources', body, identifier FROM resource WHERE workspace_id = %(workspace_id)s
UNION ALL
SELECT 'job-agents', body, name FROM job_agent WHERE workspace_id = %(workspace_id)s
UNION ALL
SELECT 'policies', body, name FROM policy WHERE workspace_id = %(workspace_id)s
ORDER BY ref

-- name: deployment
SELECT body FROM deployment
WHERE workspace_id = %(workspace_id)s AND (id = %(id)s OR slug = %(ref)s)
ORDER BY id = %(id)s DESC NULLS LAST
LIMIT 1

-- name: agent_specs
SELECT body FROM job_agent ORDER BY name, id

-- name: policies
SELECT body FROM policy WHERE workspace_id = %(workspace_id)s ORDER BY name

-- An id that another workspace has is not taken over: the row does not come back.
-- name: put_deployments
INSERT INTO deployment AS item (id, workspace_id, slug, name, body)
SELECT id, %(workspace_id)s::uuid, ref, name, body
FROM unnest(%(ids)s::uuid[], %(refs)s::text[], %(names)s::text[], %(bodies)s::json[])
    AS part (id, ref, name, body)
ON CONFLICT (id) DO UPDATE SET slug = EXCLUDED.slug, name = EXCLUDED.name, body = EXCLUDED.body
WHERE item.workspace_id = EXCLUDED.workspace_id
RETURNING id

-- name: put_environments
INSERT INTO environment AS item (id, workspace_id, name, body)
SELECT id, %(workspace_id)s::uuid, ref, body
FROM unnest(%(ids)s::uuid[], %(refs)s::text[], %(bodies)s::json[]) AS part (id, ref, body)
ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, body = EXCLUDED.body
WHERE item.workspace_id = EXCLUDED.workspace_id
RETURNING id

-- name: put_resources
INSERT INTO resource AS item (id, workspace_id, identifier, body)
SELECT id, %(workspace_id)s::uuid, ref, body
FROM unnest(%(ids)s::uuid[], %(refs)s::text[], %(bodies)s::json[]) AS part (id, ref, body)
ON CONFLICT (id) DO UPDATE SET identifier = EXCLUDED.identifier, body = EXCLUDED.body
WHERE item.workspace_id = EXCLUDED.workspace_id
RETURNING id

-- name: put_job_agents
INSERT INTO job_agent AS item (id, workspace_id, name, body)
SELECT id, %(workspace_id)s::uuid, ref, body
FROM unnest(%(ids)s::uuid[], %(refs)s::text[], %(bodies)s::json[]) AS part (id, ref, body)
ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, body = EXCLUDED.body
WHERE item.workspace_id = EXCLUDED.workspace_id
RETURNING id

-- name: put_policies
INSERT INTO policy AS item (id, workspace_id, name, body)
SELECT id, %(workspace_id)s::uuid, ref, body
FROM unnest(%(ids)s::uuid[], %(refs)s::text[], %(bodies)s::json[]) AS part (id, ref, body)
ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, body = EXCLUDED.body
WHERE item.workspace_id = EXCLUDED.workspace_id
RETURNING id

-- name: delete_deployments
DELETE FROM deployment WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s::uuid[])

-- name: delete_environments
DELETE FROM environment WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s::uuid[])

-- name: delete_resources
DELETE FROM resource WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s::uuid[])

-- name: delete_job_agents
DELETE FROM job_agent WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s::uuid[])

-- name: delete_policies
DELETE FROM policy WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s::uuid[])

-- name: record_deployed
INSERT INTO deployed (deployment_id, environment_id, resource_id, body, recorded_at)
VALUES (%(deployment_id)s, %(environment_id)s, %(resource_id)s, %(body)s, %(at)s)
ON CONFLICT (deployment_id, environment_id, resource_id)
DO UPDATE SET body = EXCLUDED.body, recorded_at = EXCLUDED.recorded_at
WHERE deployed.recorded_at <= EXCLUDED.recorded_at
