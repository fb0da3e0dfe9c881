ALTER TABLE deployment_plan ADD COLUMN message TEXT NOT NULL DEFAULT '';

ALTER TABLE deployment_plan_target_result ADD COLUMN policy_sides JSON;

-- One row a budget: when the next call's turn is, and before when there is none. Lost in a crash
-- it costs a burst of calls, so it is not logged.
CREATE UNLOGGED TABLE rate_budget (
    name TEXT COLLATE "C" PRIMARY KEY,
    next_at TIMESTAMPTZ NOT NULL,
    held_until TIMESTAMPTZ NOT NULL DEFAULT '-infinity'
);

-- By which every worker can tell that it has the key of the others.
CREATE TABLE installation (
    is_only BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (is_only),
    key_id TEXT NOT NULL
);
