-- Text that is compared or sorted has the collation "C": the order is that of the code points,
-- whatever the database was made with, and therefore that of every other place that sorts.
-- JSON, not JSONB, where nothing is searched inside: it gives back exactly the text that it got
-- (order of keys, 1e400, "\u0000"). JSONB where RFC 0004 says so.

CREATE TABLE workspace (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    slug TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT NOT NULL
);

-- The inventory: `body` is the item; the columns beside it are what is searched. Names are
-- checked at the end of a statement, so that two items may swap theirs.

CREATE TABLE deployment (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id UUID NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    slug TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    body JSON NOT NULL,
    UNIQUE (workspace_id, slug) DEFERRABLE INITIALLY IMMEDIATE
);

CREATE TABLE environment (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id UUID NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    body JSON NOT NULL,
    UNIQUE (workspace_id, name) DEFERRABLE INITIALLY IMMEDIATE
);

CREATE TABLE resource (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id UUID NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    identifier TEXT COLLATE "C" NOT NULL,
    body JSON NOT NULL,
    UNIQUE (workspace_id, identifier) DEFERRABLE INITIALLY IMMEDIATE
);

CREATE TABLE job_agent (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id UUID NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    body JSON NOT NULL,
    UNIQUE (workspace_id, name) DEFERRABLE INITIALLY IMMEDIATE
);

CREATE TABLE policy (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id UUID NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    body JSON NOT NULL,
    UNIQUE (workspace_id, name) DEFERRABLE INITIALLY IMMEDIATE
);

-- What runs where now, as the deploying system said last.
CREATE TABLE deployed (
    deployment_id UUID NOT NULL REFERENCES deployment(id) ON DELETE CASCADE,
    environment_id UUID NOT NULL REFERENCES environment(id) ON DELETE CASCADE,
    resource_id UUID NOT NULL REFERENCES resource(id) ON DELETE CASCADE,
    body JSON NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (deployment_id, environment_id, resource_id)
);
CREATE INDEX deployed_environment ON deployed (environment_id);
CREATE INDEX deployed_resource ON deployed (resource_id);

CREATE TABLE token (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    digest TEXT COLLATE "C" NOT NULL UNIQUE,
    workspace_id UUID REFERENCES workspace(id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ
);
CREATE INDEX token_workspace ON token (workspace_id, created_at);

-- RFC 0004 "Plan execution flow": these names and the first nine columns are the RFC's.
CREATE TABLE deployment_plan (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id UUID NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    deployment_id UUID NOT NULL REFERENCES deployment(id) ON DELETE CASCADE,
    status TEXT NOT NULL DEFAULT 'computing',
    request JSONB NOT NULL,
    result JSONB,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    completed_at TIMESTAMPTZ,
    expires_at TIMESTAMPTZ NOT NULL DEFAULT NOW() + INTERVAL '1 hour',
    reason TEXT,
    deadline_at TIMESTAMPTZ NOT NULL,
    fanned_out_at TIMESTAMPTZ,
    supersedes_key TEXT COLLATE "C",
    is_retired BOOLEAN NOT NULL DEFAULT FALSE,
    idempotency_key TEXT COLLATE "C",
    body_digest TEXT NOT NULL DEFAULT '',
    basis JSON,
    document BYTEA
);
CREATE UNIQUE INDEX deployment_plan_idempotency_key
    ON deployment_plan (workspace_id, deployment_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX deployment_plan_deployment ON deployment_plan (deployment_id, created_at, id);
CREATE INDEX deployment_plan_workspace ON deployment_plan (workspace_id, created_at);
CREATE INDEX deployment_plan_expires ON deployment_plan (expires_at);
CREATE INDEX deployment_plan_computing
    ON deployment_plan (workspace_id, deadline_at) WHERE status = 'computing';
CREATE INDEX deployment_plan_supersedes
    ON deployment_plan (supersedes_key, created_at)
    WHERE supersedes_key IS NOT NULL AND status <> 'failed' AND NOT is_retired;

-- The names are copied: a plan is shown as it was made, also when the inventory moves on, and it
-- may compare revisions of an inventory that is not stored here at all.
CREATE TABLE deployment_plan_target (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    plan_id UUID NOT NULL REFERENCES deployment_plan(id) ON DELETE CASCADE,
    environment_id UUID NOT NULL,
    resource_id UUID NOT NULL,
    environment_name TEXT COLLATE "C" NOT NULL,
    resource_name TEXT COLLATE "C" NOT NULL,
    resource_identifier TEXT COLLATE "C" NOT NULL,
    change TEXT NOT NULL DEFAULT ''
);
CREATE INDEX deployment_plan_target_plan ON deployment_plan_target (plan_id);

-- One row per kind. The anchor row is the invocation: id = invocation_id, position = 0; it holds
-- the first kind, and the columns up to `completed_at` count on it alone. `place` is the
-- invocation's order within its target. `answered_at` without a settled status: rules come first.
CREATE TABLE deployment_plan_target_result (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    target_id UUID NOT NULL REFERENCES deployment_plan_target(id) ON DELETE CASCADE,
    plan_id UUID NOT NULL,
    invocation_id UUID NOT NULL,
    place INTEGER NOT NULL DEFAULT 0,
    position INTEGER NOT NULL DEFAULT 0,
    agent_id TEXT NOT NULL DEFAULT '',
    agent_name TEXT NOT NULL DEFAULT '',
    agent_type TEXT NOT NULL DEFAULT '',
    dispatch_context JSON,
    agent_state JSON,
    timeout_after INTERVAL,
    attempts INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL DEFAULT '',
    phases JSON,
    started_at TIMESTAMPTZ,
    answered_at TIMESTAMPTZ,
    completed_at TIMESTAMPTZ,
    kind TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'computing',
    has_changes BOOLEAN,
    content_hash TEXT NOT NULL DEFAULT '',
    plan_key_id TEXT NOT NULL DEFAULT '',
    current TEXT,
    proposed TEXT,
    diff TEXT,
    additions BIGINT NOT NULL DEFAULT 0,
    deletions BIGINT NOT NULL DEFAULT 0,
    suppressed BIGINT NOT NULL DEFAULT 0,
    resources JSON,
    resource_texts JSON
) WITH (fillfactor = 80);
CREATE INDEX deployment_plan_target_result_plan ON deployment_plan_target_result (plan_id);
CREATE INDEX deployment_plan_target_result_target ON deployment_plan_target_result (target_id);
CREATE INDEX deployment_plan_target_result_extra
    ON deployment_plan_target_result (invocation_id) WHERE position > 0;
CREATE INDEX deployment_plan_target_result_open
    ON deployment_plan_target_result (plan_id) WHERE status = 'computing';

-- Violations belong to the anchor row (RFC 0013 "Validation").
CREATE TABLE deployment_plan_target_result_validation (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    result_id UUID NOT NULL REFERENCES deployment_plan_target_result(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    policy TEXT NOT NULL,
    rule TEXT NOT NULL,
    status TEXT NOT NULL,
    body JSON NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (result_id, position)
);
