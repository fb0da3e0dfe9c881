-- Two rules of ours on the tables of the queue library.

-- A job that is being run does not stand in the way of the next request for the same step and id:
-- picking it gives its key back, in the same statement. An enqueue made while the step runs would
-- be swallowed otherwise, and the last wake-up is the one that counts.
CREATE FUNCTION foretell_give_key_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.dedupe_key := NULL;
    RETURN NEW;
END;
$$;

CREATE TRIGGER foretell_give_key_back BEFORE UPDATE ON pgqueuer FOR EACH ROW
    WHEN (NEW.status = 'picked' AND NEW.dedupe_key IS NOT NULL)
    EXECUTE FUNCTION foretell_give_key_back();

-- The rows of a plan say what became of it. The library's own log of three rows a job would be
-- written for nobody, and grow for ever.
CREATE FUNCTION foretell_keep_no_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN NULL;
END;
$$;

CREATE TRIGGER foretell_keep_no_log BEFORE INSERT ON pgqueuer_log FOR EACH ROW
    EXECUTE FUNCTION foretell_keep_no_log();
