-- Rate budgets: the generic cell rate algorithm (ITU-T I.371, annex A) in one row each.
-- `next_at` is the next turn; one that lies further back than what may be saved up is lost. The
-- clock is read in each statement, not at BEGIN: who waited for the row comes after.

-- name: take_turn
INSERT INTO rate_budget AS budget (name, next_at)
VALUES (%(name)s, clock_timestamp() - %(saved)s::interval + %(interval)s::interval)
ON CONFLICT (name) DO UPDATE
SET next_at = GREATEST(budget.next_at, budget.held_until, clock_timestamp() - %(saved)s::interval)
    + %(interval)s::interval
RETURNING budget.next_at - %(interval)s::interval - clock_timestamp()

-- name: hold_turns
INSERT INTO rate_budget AS budget (name, next_at, held_until)
VALUES (%(name)s, clock_timestamp(), clock_timestamp() + %(wait_for)s::interval)
ON CONFLICT (name) DO UPDATE
SET held_until = GREATEST(budget.held_until, clock_timestamp() + %(wait_for)s::interval)
RETURNING name
