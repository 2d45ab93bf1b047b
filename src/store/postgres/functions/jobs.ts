const DAY_MS = 24 * 3_600_000;

/** Writes and claims of jobs. Times are ms since the epoch, by the clock of the database. */
export const JOB_FUNCTIONS = `
	CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

	-- Refuses the change of a job that another node has claimed meanwhile, because this one was taken for ended.
	CREATE FUNCTION require_claim(job_id text, node_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM 1 FROM jobs WHERE id = job_id AND lease_until > now_ms() AND lease_epoch <> node_epoch AND is_alive(lease_epoch);
		IF FOUND THEN PERFORM refuse('{"outcome": "fenced"}'); END IF;
	END $$;

	-- A due time by the clock of the database, which may differ from that of the node. The time 0 and others that are long past stay.
	CREATE FUNCTION due_time(due_at bigint, node_now bigint) RETURNS bigint LANGUAGE sql AS $$
		SELECT CASE WHEN due_at < node_now - ${DAY_MS} THEN due_at ELSE now_ms() + due_at - node_now END $$;

	CREATE FUNCTION write_job(write jsonb, node_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		job jsonb := write -> 'job';
		due bigint := due_time(coalesce(write ->> 'due_at', job ->> 'due_at')::bigint, (write ->> 'node_now')::bigint);
	BEGIN
		IF write ? 'id' THEN PERFORM require_claim(write ->> 'id', node_epoch); END IF;
		CASE write ->> 'op'
		WHEN 'enqueue' THEN
			IF (write ->> 'unless_queued')::boolean THEN
				-- Two nodes that ask for the same work at once: the second waits for the first.
				PERFORM pg_advisory_xact_lock(hashtextextended(concat('job ', job ->> 'kind', ' ', job ->> 'ref'), 0));
				IF EXISTS (SELECT 1 FROM jobs WHERE ref = job ->> 'ref' AND kind = job ->> 'kind') THEN RETURN; END IF;
			END IF;
			INSERT INTO jobs (id, kind, ref, fair_group, due_at, attempts, lease_epoch, lease_until)
			VALUES (job ->> 'id', job ->> 'kind', job ->> 'ref', job ->> 'group', due, 0, 0, 0);
		WHEN 'complete' THEN
			DELETE FROM jobs WHERE id = write ->> 'id';
		WHEN 'complete_all' THEN
			DELETE FROM jobs WHERE ref = write ->> 'ref' AND kind = coalesce(write ->> 'kind', kind);
		WHEN 'postpone' THEN
			UPDATE jobs SET due_at = due, lease_until = 0, attempts = 0 WHERE id = write ->> 'id';
		WHEN 'give_back' THEN
			UPDATE jobs SET due_at = 0, lease_until = 0, attempts = greatest(attempts - 1, 0) WHERE id = write ->> 'id';
		WHEN 'restart_attempts' THEN
			UPDATE jobs SET attempts = 1 WHERE id = write ->> 'id';
		WHEN 'make_due' THEN
			UPDATE jobs SET due_at = 0 WHERE kind = write ->> 'kind' AND due_at > 0
			AND fair_group = coalesce(write ->> 'group', fair_group) AND ref = coalesce(write ->> 'ref', ref);
		END CASE;
	END $$;

	-- The first due job of every group, then the second of every group, and so on. A time beyond max_postponement shows that a clock
	-- was set back later; it counts as due. Jobs of a group run on one node at a time: it orders them in its memory. So one node
	-- at a time claims, and leaves out the groups of which another living node has claimed a job.
	CREATE FUNCTION claim_jobs(of_kind text, most bigint, lease_ms bigint, node_epoch bigint, max_postponement bigint)
	RETURNS TABLE (id text, kind text, ref text, "group" text, due_at bigint, attempts bigint) LANGUAGE plpgsql AS $$
	#variable_conflict use_column
	DECLARE now bigint;
	BEGIN
		-- Most claims find nothing: they wait for no other.
		IF NOT EXISTS (SELECT 1 FROM jobs WHERE kind = of_kind) THEN RETURN; END IF;
		PERFORM pg_advisory_xact_lock(hashtextextended('job claims', 0));
		now := now_ms();
		RETURN QUERY
		WITH elsewhere AS MATERIALIZED (
			SELECT DISTINCT fair_group FROM jobs WHERE lease_until > now AND lease_until <= now + max_postponement
			AND lease_epoch <> node_epoch AND is_alive(lease_epoch)
		), free AS (
			SELECT *, row_number() OVER (PARTITION BY fair_group ORDER BY due_at, id) AS turn FROM jobs
			WHERE kind = of_kind AND (due_at <= now OR due_at > now + max_postponement)
			AND (NOT is_alive(lease_epoch) OR lease_until <= now OR lease_until > now + max_postponement)
			AND fair_group NOT IN (SELECT fair_group FROM elsewhere)
		), chosen AS (
			SELECT jobs.id, turn FROM jobs JOIN free ON free.id = jobs.id
			WHERE jobs.lease_until = free.lease_until AND jobs.lease_epoch = free.lease_epoch
			ORDER BY turn, free.due_at, jobs.id LIMIT most FOR UPDATE OF jobs SKIP LOCKED
		), claimed AS (
			UPDATE jobs SET attempts = jobs.attempts + 1, lease_epoch = node_epoch, lease_until = now + lease_ms
			FROM chosen WHERE jobs.id = chosen.id RETURNING jobs.*, chosen.turn
		)
		SELECT claimed.id::text, claimed.kind::text, claimed.ref::text, claimed.fair_group::text, claimed.due_at, claimed.attempts
		FROM claimed ORDER BY turn, claimed.due_at, claimed.id;
	END $$;

	CREATE FUNCTION claim_batch(
		writer text, writer_session text, node_epoch bigint, of_batch bigint, kind text, most bigint, lease_ms bigint,
		max_postponement bigint
	) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE jobs jsonb := '[]';
	BEGIN
		PERFORM begin_batch(writer, writer_session);
		SELECT coalesce(jsonb_agg(to_jsonb(claimed)), '[]') INTO jobs
		FROM claim_jobs(kind, most, lease_ms, node_epoch, max_postponement) AS claimed;
		PERFORM end_batch(writer, of_batch, jobs);
		RETURN jobs;
	END $$;
`;
