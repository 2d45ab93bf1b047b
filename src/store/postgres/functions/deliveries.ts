/** Adds deliveries to webhook endpoints. */
export const DELIVERY_FUNCTIONS = `
	-- Adds the delivery of an event to an endpoint, or makes it due again. carried: id, stream, type and subject of the event.
	CREATE FUNCTION add_delivery(delivery_id text, carried jsonb, seq bigint, endpoint text, at bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO deliveries AS d (id, version, workspace_id, webhook_id, event_seq, event_id, event_type, subject, status, attempts,
			failures, first_attempt_at, due_at, status_code, error, created_at, updated_at, completed_at)
		VALUES (delivery_id, 1, carried ->> 'stream', endpoint, seq, carried ->> 'id', carried ->> 'type', carried ->> 'subject',
			'pending', 0, 0, NULL, 0, NULL, NULL, at, at, NULL)
		ON CONFLICT (event_seq, webhook_id) DO UPDATE SET version = d.version + 1, status = 'pending', due_at = 0,
			failures = 0, first_attempt_at = NULL, completed_at = NULL, updated_at = excluded.updated_at WHERE d.status <> 'pending';
	END $$;

	-- An id like those that nodes make: the time and counter of one, and other random bits.
	CREATE FUNCTION new_delivery_id(like_id text) RETURNS text LANGUAGE sql AS $$
		SELECT left(like_id, -16) || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (get_byte(bytes, n) & 31), 1), '')
		FROM (SELECT uuid_send(gen_random_uuid()) AS bytes) AS random, generate_series(0, 15) AS n
	$$;

	-- Nothing is kept of an endpoint that was deleted meanwhile. The earlier time counts even when the clock was set back.
	CREATE FUNCTION write_failure(write jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		IF write ->> 'op' = 'clear_failures' THEN
			DELETE FROM webhook_failures WHERE webhook_id = write ->> 'webhook_id';
			RETURN;
		END IF;
		INSERT INTO webhook_failures AS f (webhook_id, since)
		SELECT id, (write ->> 'at')::bigint FROM webhooks WHERE id = write ->> 'webhook_id' FOR KEY SHARE
		ON CONFLICT (webhook_id) DO UPDATE SET since = least(f.since, excluded.since);
	END $$;

	-- One for each active endpoint of the workspace that subscribes to the type. delivery_id: an id that they resemble.
	CREATE FUNCTION add_deliveries(event jsonb, seq bigint) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE endpoint text;
	BEGIN
		FOR endpoint IN SELECT id FROM webhooks WHERE workspace_id = event ->> 'stream' AND status = 'active'
			AND (events::jsonb ? '*' OR events::jsonb ? (event ->> 'type')) LOOP
			PERFORM add_delivery(new_delivery_id(event ->> 'delivery_id'), event, seq, endpoint, (event ->> 'created_at')::bigint);
		END LOOP;
	END $$;
`;
