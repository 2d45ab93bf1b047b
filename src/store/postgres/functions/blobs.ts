/** Writes of uploaded files. A file without bytes has one chunk, too. */
export const BLOB_FUNCTIONS = `
	-- Adds a chunk to an upload; number 0 begins it. It is removed if nothing is added, and it is not persisted, for lifetime_ms.
	CREATE FUNCTION add_blob_chunk(p_content text, p_number bigint, p_bytes bytea, lifetime_ms bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		-- The commit that persists the upload also syncs what was written before it.
		PERFORM set_config('synchronous_commit', 'off', true);
		IF p_number = 0 THEN
			INSERT INTO blob_uploads (content, expires_at) VALUES (p_content, now_ms() + lifetime_ms);
		ELSE
			UPDATE blob_uploads SET expires_at = now_ms() + lifetime_ms WHERE content = p_content;
			IF NOT FOUND THEN RAISE EXCEPTION 'The upload has expired.'; END IF;
		END IF;
		INSERT INTO blob_chunks (content, number, bytes) VALUES (p_content, p_number, p_bytes);
	END $$;

	-- Ends an upload: its bytes get the name of their hash, or are removed if that name has the same bytes already. Repeatable.
	CREATE FUNCTION persist_blob(p_content text, p_hash text, p_size bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		DELETE FROM blob_uploads WHERE content = p_content;
		IF NOT FOUND THEN
			IF EXISTS (SELECT 1 FROM blobs WHERE hash = p_hash) THEN RETURN; END IF;
			RAISE EXCEPTION 'The upload has expired.';
		END IF;
		INSERT INTO blobs (hash, content, size) VALUES (p_hash, p_content, p_size) ON CONFLICT (hash) DO NOTHING;
		IF NOT FOUND THEN DELETE FROM blob_chunks WHERE content = p_content; END IF;
	END $$;

	-- Removes an upload, unless it was persisted.
	CREATE FUNCTION discard_upload(p_content text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		DELETE FROM blob_uploads WHERE content = p_content;
		IF FOUND THEN DELETE FROM blob_chunks WHERE content = p_content; END IF;
	END $$;

	-- Removes uploads that a node has left behind. @returns how many
	CREATE FUNCTION remove_expired_uploads(most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE removed text[];
	BEGIN
		WITH expired AS (
			DELETE FROM blob_uploads WHERE content IN (
				SELECT content FROM blob_uploads WHERE expires_at <= now_ms() LIMIT most FOR UPDATE SKIP LOCKED
			) RETURNING content
		)
		SELECT array_agg(content::text) INTO removed FROM expired;
		DELETE FROM blob_chunks WHERE content = ANY(removed);
		RETURN coalesce(cardinality(removed), 0);
	END $$;

	CREATE FUNCTION remove_blob(p_hash text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE removed text;
	BEGIN
		DELETE FROM blobs WHERE hash = p_hash RETURNING content INTO removed;
		DELETE FROM blob_chunks WHERE content = removed;
	END $$;

	-- Writes bytes and removes them in one transaction, which is synced to disk.
	CREATE FUNCTION probe_blobs(p_content text, p_bytes bytea) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO blob_chunks (content, number, bytes) VALUES (p_content, 0, p_bytes);
		DELETE FROM blob_chunks WHERE content = p_content;
	END $$;
`;
