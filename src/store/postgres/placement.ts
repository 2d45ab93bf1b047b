import { type AppError, newId, version } from '../../base/index.ts';
import type { PlacementStore, PlacementView } from '../placement.ts';
import { incompleteImportError } from './import-state.ts';
import { SCHEMA_VERSION } from './schema/migrations.ts';
import { requireUsableSchema } from './schema-version.ts';
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

/** The leases of one node. */
export class PostgresPlacement implements PlacementStore {
	readonly #sql: Sql;
	readonly #node: string;
	readonly #onOutdated: (error: AppError) => void;

	/** @param onOutdated called when the schema has become too new for this program: it may not go on */
	constructor(sql: Sql, node: string, onOutdated: (error: AppError) => void) {
		this.#sql = sql;
		this.#node = node;
		this.#onOutdated = onOutdated;
	}

	/** @throws AppError `unavailable` when the schema is too new for this program; then the lease is not renewed */
	async renew(leaseMs: number): Promise<PlacementView> {
		const row = await this.#sql.get<{ view: PlacementView; version: number }>(
			`SELECT version, CASE WHEN version <= @newest THEN renew_lease(@node, @lease_ms) END AS view FROM schema_version`,
			{ node: this.#node, lease_ms: leaseMs, newest: SCHEMA_VERSION + 1 },
		);
		const { version, view } = row as { view: PlacementView; version: number };
		try {
			requireUsableSchema(version);
		} catch (error) {
			this.#onOutdated(error as AppError);
			throw error;
		}
		return view;
	}

	async release(shards: readonly number[]): Promise<void> {
		await this.#sql.run('UPDATE shards SET owner = NULL WHERE owner = @node AND id = ANY(@shards)', {
			node: this.#node,
			shards,
		});
	}

	async leave(): Promise<void> {
		await this.#sql.run('UPDATE nodes SET is_leaving = true WHERE id = @node', { node: this.#node });
	}
}
