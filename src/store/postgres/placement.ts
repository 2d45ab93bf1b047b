import pg from 'pg';
import { AppError, newId, version } from '../../base/index.ts';
import type { PlacementStore, PlacementView, ShardFence } from '../placement.ts';
import { NODE_REMOVED } from './functions/placement.ts';
import { incompleteImportError } from './import-state.ts';
import { OutdatedSchemaError, requireUsableSchema } from './schema-version.ts';
import type { Sql } from './sql.ts';

/** A node from its start to its end. */
export interface NodeIdentity {
	owner: string;
	epoch: number;
}

/**
 * Adds a node with a lease. Rows of writers that have ended long ago are removed.
 * @throws AppError `unavailable` while an import has not ended
 */
export async function joinCluster(sql: Sql, address: string, leaseMs: number): Promise<NodeIdentity> {
	const owner = `${process.pid}-${newId('request')}`;
	await sql.run("DELETE FROM writers WHERE updated_at < clock_timestamp() - interval '1 day'");
	const row = await sql.get<{ epoch: number }>(
		`INSERT INTO nodes (id, address, version, started_at, expires_at)
		 SELECT @owner, @address, @version, clock_timestamp(), clock_timestamp() + @lease_ms * interval '1 millisecond'
		 WHERE NOT EXISTS (SELECT 1 FROM imports WHERE completed_at IS NULL) RETURNING epoch`,
		{ owner, address, version: version(), lease_ms: leaseMs },
	);
	if (row === undefined) throw incompleteImportError();
	return { owner, epoch: row.epoch };
}

/** Ends the lease of a node: its shards and jobs are free at once. */
export async function leaveCluster(sql: Sql, owner: string): Promise<void> {
	await sql.run('DELETE FROM nodes WHERE id = @owner', { owner });
}

const REMOVED =
	'The lease of this node ended more than an hour ago, and other nodes have removed it. It must start again.';

/** The leases of one node. */
export class PostgresPlacement implements PlacementStore {
	readonly #sql: Sql;
	readonly #node: string;
	readonly #onExpelled: (error: AppError) => void;

	/** @param onExpelled called when this process may not go on: the schema is too new for it, or its node was removed */
	constructor(sql: Sql, node: string, onExpelled: (error: AppError) => void) {
		this.#sql = sql;
		this.#node = node;
		this.#onExpelled = onExpelled;
	}

	/** @throws AppError `unavailable` when this process may not go on; then the lease is not renewed */
	async renew(leaseMs: number): Promise<PlacementView> {
		try {
			return await this.#renew(leaseMs);
		} catch (error) {
			const isRemoved = error instanceof pg.DatabaseError && error.code === NODE_REMOVED;
			const expelled = isRemoved ? new AppError('unavailable', REMOVED, { cause: error }) : error;
			if (expelled instanceof OutdatedSchemaError || isRemoved) this.#onExpelled(expelled as AppError);
			throw expelled;
		}
	}

	async #renew(leaseMs: number): Promise<PlacementView> {
		// Without the function: newer programs remove it when they no longer go with this one.
		const schema = await this.#sql.get<{ version: number }>('SELECT version FROM schema_version');
		requireUsableSchema(schema?.version ?? 0);
		const parameters = { node: this.#node, lease_ms: leaseMs };
		const row = await this.#sql.get<{ view: PlacementView }>(
			'SELECT renew_lease(@node, @lease_ms) AS view',
			parameters,
		);
		return (row as { view: PlacementView }).view;
	}

	async release(fences: readonly ShardFence[]): Promise<void> {
		await this.#sql.run('SELECT release_shards(@node, @shards, @epochs)', {
			node: this.#node,
			shards: fences.map(({ shard }) => shard),
			epochs: fences.map(({ epoch }) => epoch),
		});
	}

	async leave(): Promise<void> {
		await this.#sql.run('UPDATE nodes SET is_leaving = true WHERE id = @node', { node: this.#node });
	}
}
