-- An event of GitHub's, once: the id that it came under, and the bytes that were signed.
-- `event` is there until it is finished; the rest stays, so that a replay is known as one.
CREATE TABLE github_delivery (
    position BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" PRIMARY KEY,
    digest TEXT COLLATE "C" NOT NULL UNIQUE,
    subject TEXT COLLATE "C" NOT NULL,
    event JSON,
    received_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX github_delivery_pending
    ON github_delivery (subject, position) WHERE event IS NOT NULL;
CREATE INDEX github_delivery_received ON github_delivery (received_at);

-- The newest that is known of a pull request.
CREATE TABLE pull_request (
    subject TEXT COLLATE "C" PRIMARY KEY,
    body JSON NOT NULL,
    saved_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX pull_request_saved ON pull_request (saved_at);

CREATE INDEX deployment_plan_pull_request ON deployment_plan (
    lower(request #>> '{github,owner}'),
    lower(request #>> '{github,repo}'),
    (request #>> '{github,pr_number}')
) WHERE supersedes_key IS NOT NULL AND status <> 'failed' AND NOT is_retired;
CREATE INDEX deployment_plan_commit ON deployment_plan ((request #>> '{github,sha}'))
    WHERE request #>> '{github,sha}' IS NOT NULL;
