/** Expired rows that one call removes. A call adds fewer. */
const ERASED_PER_CALL = 20;

/** Limits of attempts in a sliding window, by the clock of the database. The row of a key is locked, so calls come one after the other. */
export const LIMIT_FUNCTIONS = `
	-- Counts all attempts, or none. @returns 0, or the milliseconds until the limit that is reached allows another attempt
	CREATE FUNCTION count_attempts(p_attempts jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		item jsonb;
		window_ms bigint;
		max_attempts int;
		now bigint;
		recent bigint[];
		seen text[] := '{}';
	BEGIN
		DELETE FROM limited_attempts WHERE ctid = ANY(ARRAY(
			SELECT ctid FROM limited_attempts WHERE expires_at <= now_ms() ORDER BY expires_at LIMIT ${ERASED_PER_CALL}
			FOR UPDATE SKIP LOCKED
		));
		FOR item IN SELECT * FROM jsonb_array_elements(p_attempts) LOOP
			window_ms := (item ->> 'window_ms')::bigint;
			max_attempts := (item ->> 'limit')::int;
			INSERT INTO limited_attempts AS l (key, times, expires_at) VALUES (item ->> 'key', '{}', now_ms() + window_ms)
			ON CONFLICT (key) DO UPDATE SET expires_at = greatest(l.expires_at, excluded.expires_at)
			RETURNING times INTO recent;
			now := now_ms();
			-- After the clock was set back, attempts in the future count as now.
			recent := ARRAY(SELECT least(t, now) FROM unnest(recent) AS t WHERE t > now - window_ms ORDER BY t);
			IF cardinality(recent) >= max_attempts THEN
				DELETE FROM limited_attempts WHERE key = ANY(seen) AND times = '{}';
				RETURN recent[cardinality(recent) - max_attempts + 1] + window_ms - now;
			END IF;
			UPDATE limited_attempts SET times = recent WHERE key = item ->> 'key' AND times <> recent;
			seen := seen || (item ->> 'key');
		END LOOP;
		UPDATE limited_attempts SET times = times || now_ms() WHERE key = ANY(seen);
		RETURN 0;
	END $$;

	CREATE FUNCTION refund_attempts(p_keys jsonb) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE attempt_key text;
	BEGIN
		FOR attempt_key IN SELECT * FROM jsonb_array_elements_text(p_keys) LOOP
			UPDATE limited_attempts SET times = trim_array(times, 1) WHERE key = attempt_key AND times <> '{}';
			DELETE FROM limited_attempts WHERE key = attempt_key AND times = '{}';
		END LOOP;
	END $$;
`;
