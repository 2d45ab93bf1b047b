import { SHARD_COUNT } from '../../placement.ts';

/**
 * Nodes with their leases, and who owns each shard. Epochs of nodes and of shards only grow. A node takes shards from its first renewal on:
 * before it, it starts.
 */
export const PLACEMENT_TABLES = `
	CREATE TABLE nodes (
		id string PRIMARY KEY, epoch bigint GENERATED ALWAYS AS IDENTITY, address string NOT NULL, version string NOT NULL,
		takes_shards boolean NOT NULL DEFAULT false, is_leaving boolean NOT NULL DEFAULT false,
		started_at timestamptz NOT NULL, expires_at timestamptz NOT NULL
	);
	CREATE UNIQUE INDEX nodes_by_epoch ON nodes (epoch);

	CREATE TABLE shards (id bigint PRIMARY KEY, owner string, epoch bigint NOT NULL) WITH (fillfactor = 50);
	INSERT INTO shards SELECT n, NULL, 0 FROM generate_series(0, ${SHARD_COUNT - 1}) AS n;
`;
