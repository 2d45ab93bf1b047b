import { ERASED_SCOPE } from '../../erased-request.ts';

/** SQLSTATEs that these functions raise. The detail is the outcome as JSON. */
export const REFUSED = 'PL001';
/** The writer has lost its session: another connection has looked up its last batch. Nothing is written. */
export const SUPERSEDED = 'PL002';

/**
 * Carries out commits. A batch of commits is one call: one round trip and one transaction. A commit that fails is undone alone; the
 * others and it share one flush to disk.
 */
export const COMMIT_FUNCTIONS = `
	-- Locks the writer's row until the transaction ends.
	CREATE FUNCTION begin_batch(writer text, writer_session text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM 1 FROM writers WHERE id = writer AND session = writer_session FOR UPDATE;
		IF NOT FOUND THEN RAISE EXCEPTION 'Another session has taken over the writer.' USING ERRCODE = '${SUPERSEDED}'; END IF;
	END $$;

	CREATE FUNCTION end_batch(writer text, of_batch bigint, with_outcomes jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		UPDATE writers SET batch = of_batch, outcomes = with_outcomes, updated_at = clock_timestamp() WHERE id = writer;
	END $$;

	CREATE FUNCTION hash_of_request(of_scope text, of_key text, of_body_hash text) RETURNS text LANGUAGE sql STABLE AS $$
		SELECT encode(sha256(convert_to(of_scope || E'\\n' || of_key || E'\\n' || of_body_hash, 'UTF8')), 'hex') $$;

	-- Stores the response of a request. @returns the response that is stored already, or null.
	CREATE FUNCTION store_response(response jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		stored idempotency;
		accepts_expired boolean := coalesce((response ->> 'accept_expired')::boolean, false);
	BEGIN
		INSERT INTO idempotency AS i (scope, key, body_hash, status, body, pending, subject, expires_at)
		VALUES (response ->> 'scope', response ->> 'key', response ->> 'body_hash', (response ->> 'status')::bigint,
			response ->> 'body', response ->> 'pending', response ->> 'subject', (response ->> 'expires_at')::bigint)
		ON CONFLICT (scope, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status, body = excluded.body,
			pending = excluded.pending, subject = excluded.subject, expires_at = excluded.expires_at
		WHERE i.expires_at <= now_ms() AND NOT accepts_expired;
		IF FOUND THEN
			-- Only now: an erasure that ran meanwhile has ended.
			SELECT * INTO stored FROM idempotency WHERE scope = '${ERASED_SCOPE}'
				AND key = hash_of_request(response ->> 'scope', response ->> 'key', response ->> 'body_hash')
				AND (expires_at > now_ms() OR accepts_expired);
			IF NOT FOUND THEN RETURN NULL; END IF;
			DELETE FROM idempotency WHERE scope = response ->> 'scope' AND key = response ->> 'key';
		ELSE
			SELECT * INTO STRICT stored FROM idempotency WHERE scope = response ->> 'scope' AND key = response ->> 'key';
		END IF;
		RETURN jsonb_build_object('outcome', 'replay', 'body_hash', stored.body_hash, 'status', stored.status,
			'body', stored.body, 'pending', stored.pending);
	END $$;

	CREATE FUNCTION refuse(outcome jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		RAISE EXCEPTION 'The commit is refused.' USING ERRCODE = '${REFUSED}', DETAIL = outcome::text;
	END $$;

	CREATE FUNCTION require_shard(fence jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		IF NOT holds_shard((fence ->> 'shard')::bigint, (fence ->> 'epoch')::bigint) THEN
			PERFORM refuse('{"outcome": "fenced"}');
		END IF;
	END $$;

	CREATE FUNCTION refuse_conflict(kind text, id text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM refuse(jsonb_build_object('outcome', 'conflict', 'kind', kind, 'id', id));
	END $$;

	-- All of a commit but its events. @returns the stored response of an earlier request, or null.
	CREATE FUNCTION apply_commit(c jsonb, node_epoch bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		item jsonb;
		replay jsonb;
	BEGIN
		IF c ? 'fence' THEN PERFORM require_shard(c -> 'fence'); END IF;
		IF c ? 'idempotency' THEN
			replay := store_response(c -> 'idempotency');
			IF replay IS NOT NULL THEN RETURN replay; END IF;
		END IF;
		FOR item IN SELECT * FROM jsonb_array_elements(c -> 'expect') LOOP
			IF lock_record(item ->> 'kind', item ->> 'id', (item ->> 'is_written')::boolean) <> (item ->> 'version')::bigint THEN
				PERFORM refuse_conflict(item ->> 'kind', item ->> 'id');
			END IF;
		END LOOP;
		FOR item IN SELECT * FROM jsonb_array_elements(c -> 'write') LOOP
			IF item ->> 'op' LIKE 'spending.%' THEN
				PERFORM apply_spending(item, node_epoch);
			ELSIF item ->> 'op' IN ('record_failure', 'clear_failures') THEN
				PERFORM write_failure(item);
			ELSIF NOT write_record(item ->> 'op', item ->> 'kind', item ->> 'id', item -> 'fields') THEN
				PERFORM refuse_conflict(item ->> 'kind', item ->> 'id');
			END IF;
		END LOOP;
		FOR item IN SELECT * FROM jsonb_array_elements(c -> 'jobs') LOOP
			PERFORM write_job(item, node_epoch);
		END LOOP;
		RETURN NULL;
	END $$;

	-- Appends events with their deliveries. The end of the log is locked until the transaction ends: a reader that has an event
	-- has all before it. It is the last lock that a batch takes. @returns the commit sequences.
	CREATE FUNCTION append_events(new_events jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		item jsonb;
		next bigint;
		seqs jsonb := '[]';
	BEGIN
		IF jsonb_array_length(new_events) = 0 THEN RETURN seqs; END IF;
		UPDATE log_end SET seq = seq + jsonb_array_length(new_events) RETURNING seq - jsonb_array_length(new_events) INTO next;
		FOR item IN SELECT * FROM jsonb_array_elements(new_events) LOOP
			next := next + 1;
			seqs := seqs || to_jsonb(next);
			INSERT INTO events (seq, id, stream, type, data, subject, created_at)
			VALUES (next, item ->> 'id', item ->> 'stream', item ->> 'type', item ->> 'data', item ->> 'subject',
				(item ->> 'created_at')::bigint);
			IF item ? 'delivery_id' THEN PERFORM add_deliveries(item, next); END IF;
		END LOOP;
		RETURN seqs;
	END $$;

	-- Ends the transaction of one commit. @returns its outcome
	CREATE FUNCTION finish_commit(writer text, of_batch bigint, new_events jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE outcomes jsonb := jsonb_build_array(jsonb_build_object('outcome', 'committed', 'seqs', append_events(new_events)));
	BEGIN
		PERFORM end_batch(writer, of_batch, outcomes);
		RETURN outcomes;
	END $$;

	-- An error of one commit. Others concern the whole batch: the disk, the connection, locks.
	CREATE FUNCTION is_of_one_commit(state text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
		SELECT left(state, 2) IN ('22', '23', '20', '42', 'P0') $$;

	CREATE FUNCTION commit_batch(
		writer text, writer_session text, node_epoch bigint, of_batch bigint, commits jsonb
	) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		c jsonb;
		outcome jsonb;
		detail text;
		spending jsonb;
		outcomes jsonb := '[]';
		position bigint := 0;
	BEGIN
		PERFORM begin_batch(writer, writer_session);
		spending := jsonb_path_query_array(commits, '$[*].write[*] ? (@.op starts with "spending.")');
		IF spending <> '[]' THEN PERFORM lock_spending_of(spending); END IF;
		FOR c IN SELECT * FROM jsonb_array_elements(commits) LOOP
			BEGIN
				outcome := coalesce(apply_commit(c, node_epoch), '{"outcome": "committed"}');
			EXCEPTION
				WHEN SQLSTATE '${REFUSED}' THEN
					GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
					outcome := detail::jsonb;
				WHEN OTHERS THEN
					IF NOT is_of_one_commit(SQLSTATE) THEN RAISE; END IF;
					outcome := jsonb_build_object('outcome', 'failed', 'message', SQLERRM, 'code', SQLSTATE);
			END;
			outcomes := outcomes || outcome;
		END LOOP;
		FOR c IN SELECT * FROM jsonb_array_elements(commits) LOOP
			IF outcomes -> position::int ->> 'outcome' = 'committed' THEN
				outcomes := jsonb_set(outcomes, ARRAY[position::text, 'seqs'], append_events(coalesce(c -> 'events', '[]')));
			END IF;
			position := position + 1;
		END LOOP;
		PERFORM end_batch(writer, of_batch, outcomes);
		RETURN outcomes;
	END $$;
`;
