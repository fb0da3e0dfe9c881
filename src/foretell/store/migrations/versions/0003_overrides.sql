-- Who answered for which denial, and why. It outlives the plan that it was given to: no reference to
-- the plan's rows, and what was overridden is told in `subject`. Nothing here is ever changed.
CREATE TABLE deployment_plan_override (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace_id UUID NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    deployment_id UUID NOT NULL,
    plan_id UUID NOT NULL,
    target_id UUID,
    policy TEXT NOT NULL,
    rule TEXT NOT NULL,
    person TEXT NOT NULL,
    token_id UUID NOT NULL,
    reason TEXT NOT NULL,
    subject JSON NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX deployment_plan_override_plan ON deployment_plan_override (plan_id);
CREATE INDEX deployment_plan_override_workspace
    ON deployment_plan_override (workspace_id, created_at);

-- Each override changes what the finished plan shows: whoever keeps its document looks here first.
ALTER TABLE deployment_plan ADD COLUMN override_count INTEGER NOT NULL DEFAULT 0;
