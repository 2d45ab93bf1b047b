import { SHARD_COUNT } from '../../placement.ts';

/** SQLSTATE: the row of a node was removed, long after its lease has ended. */
export const NODE_REMOVED = 'PL003';

/** Advisory locks of shards have this first number. */
const SHARD_LOCKS = 7_257_540;

/** Leases of nodes and owners of shards. */
export const PLACEMENT_FUNCTIONS = `
	CREATE FUNCTION is_alive(node_epoch bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
		SELECT EXISTS (SELECT 1 FROM nodes WHERE epoch = node_epoch AND expires_at > clock_timestamp()) $$;

	-- The owner of a shard cannot change until the transaction ends. Another node that wants the shard does not wait: it tries again
	-- when it renews. @returns whether the shard has this epoch
	CREATE FUNCTION holds_shard(p_shard bigint, p_epoch bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
		PERFORM pg_advisory_xact_lock_shared(${SHARD_LOCKS}, p_shard::int);
		PERFORM 1 FROM shards WHERE id = p_shard AND epoch = p_epoch;
		RETURN FOUND;
	END $$;

	-- Gives shards up that have these epochs. It waits for renewals, which change the same rows.
	CREATE FUNCTION release_shards(p_node text, p_shards bigint[], p_epochs bigint[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM pg_advisory_xact_lock(hashtextextended('placement', 0));
		UPDATE shards SET owner = NULL FROM unnest(p_shards, p_epochs) AS given (shard, epoch)
		WHERE shards.id = given.shard AND shards.epoch = given.epoch AND shards.owner = p_node;
	END $$;

	-- Renews the lease of a node and takes shards whose owner has ended, up to the fair share. One node at a time does this: otherwise
	-- two would count the same shards as free. @returns nodes, shards, and the surplus that others wait for
	CREATE FUNCTION renew_lease(p_node text, p_lease_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		-- A node with less than half of its lease left has missed a renewal. It gets no share.
		lively_until timestamptz := clock_timestamp() + p_lease_ms * interval '1 millisecond' / 2;
		leaving boolean;
		candidates bigint;
		owned bigint;
		total bigint := ${SHARD_COUNT};
		is_waited_for boolean;
		share bigint;
	BEGIN
		PERFORM pg_advisory_xact_lock(hashtextextended('placement', 0));
		UPDATE nodes SET expires_at = clock_timestamp() + p_lease_ms * interval '1 millisecond', takes_shards = true
		WHERE id = p_node RETURNING is_leaving INTO leaving;
		IF NOT FOUND THEN RAISE EXCEPTION 'The node has left the cluster.' USING ERRCODE = '${NODE_REMOVED}'; END IF;
		-- Long after its lease: a node that was only frozen keeps its row, and with it what no other node has taken.
		DELETE FROM nodes WHERE expires_at < clock_timestamp() - interval '1 hour';
		SELECT greatest(count(*), 1) INTO candidates FROM nodes
		WHERE expires_at > lively_until AND takes_shards AND NOT is_leaving;
		SELECT count(*) INTO owned FROM shards WHERE owner = p_node;
		SELECT EXISTS (
			SELECT 1 FROM nodes WHERE id <> p_node AND expires_at > lively_until AND takes_shards AND NOT is_leaving
			AND (SELECT count(*) FROM shards WHERE owner = nodes.id) < total / candidates
		) INTO is_waited_for;
		-- The shares differ by one where the shards do not divide evenly. A node takes the larger one when all have the smaller one.
		share := CASE WHEN leaving THEN 0 WHEN is_waited_for THEN total / candidates ELSE (total + candidates - 1) / candidates END;
		UPDATE shards SET owner = p_node, epoch = epoch + 1 WHERE id IN (
			SELECT id FROM shards
			WHERE (owner IS NULL OR owner NOT IN (SELECT id FROM nodes WHERE expires_at > clock_timestamp()))
			AND pg_try_advisory_xact_lock(${SHARD_LOCKS}, id::int)
			ORDER BY id LIMIT greatest(share - owned, 0)
		);
		RETURN jsonb_build_object(
			'nodes', (SELECT jsonb_agg(jsonb_build_object('id', id, 'address', address, 'version', version,
				'isLeaving', is_leaving) ORDER BY id) FROM nodes WHERE expires_at > clock_timestamp()),
			'shards', (SELECT jsonb_agg(jsonb_build_object('owner', owner, 'epoch', epoch) ORDER BY id) FROM shards),
			'nextExpiryMs', (SELECT ceil(extract(epoch FROM min(expires_at) - clock_timestamp()) * 1000) FROM nodes
				WHERE id <> p_node AND expires_at > clock_timestamp()),
			'now', now_ms(),
			'surplus', CASE WHEN leaving OR is_waited_for THEN greatest(owned - share, 0) ELSE 0 END
		);
	END $$;
`;
