-- Where plans are shown on GitHub. Rows outlive the plans, hence no reference to them.
-- pr_number 0 is a commit without a pull request: there, the commit is a part of the identity, "" else.

CREATE TABLE github_thread (
    deployment_id UUID NOT NULL REFERENCES deployment(id) ON DELETE CASCADE,
    owner TEXT COLLATE "C" NOT NULL,
    repo TEXT COLLATE "C" NOT NULL,
    pr_number INTEGER NOT NULL,
    at_commit TEXT COLLATE "C" NOT NULL,
    plan_id UUID NOT NULL,
    plan_created_at TIMESTAMPTZ NOT NULL,
    comment_id BIGINT,
    comment_digest TEXT NOT NULL DEFAULT '',
    told_commit TEXT NOT NULL DEFAULT '',
    told JSON NOT NULL DEFAULT '{}',
    before_commit TEXT NOT NULL DEFAULT '',
    before JSON NOT NULL DEFAULT '{}',
    held_by TEXT NOT NULL DEFAULT '',
    held_until TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
    touched_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, repo, pr_number, at_commit, deployment_id)
);
CREATE INDEX github_thread_touched ON github_thread (touched_at);

CREATE TABLE github_check (
    deployment_id UUID NOT NULL REFERENCES deployment(id) ON DELETE CASCADE,
    owner TEXT COLLATE "C" NOT NULL,
    repo TEXT COLLATE "C" NOT NULL,
    pr_number INTEGER NOT NULL,
    commit TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    plan_id UUID NOT NULL,
    plan_created_at TIMESTAMPTZ NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    check_id BIGINT,
    digest TEXT NOT NULL DEFAULT '',
    is_open BOOLEAN NOT NULL DEFAULT false,
    touched_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, repo, commit, deployment_id, external_id)
);
CREATE INDEX github_check_open ON github_check (deployment_id, owner, repo, pr_number)
    WHERE is_open;
CREATE INDEX github_check_touched ON github_check (touched_at);
