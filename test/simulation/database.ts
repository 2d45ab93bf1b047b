import Database from 'better-sqlite3';
import * as sqliteVec from 'sqlite-vec';
import { separateCharacters } from '../../src/base/index.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { takeFence, Writer } from '../../src/store/sqlite/writer.ts';
import * as samples from '../store/samples.ts';
import { checkStatement } from './check-statements.ts';
import type { Plan } from './plan.ts';
import { START } from './scheduler.ts';

const WORKSPACE_ID = 'ws_simulated';

/** The database of all simulations, one after the other: its prepared statements cost more than a simulation. */
let shared: { db: Database.Database; initialRows: ReadonlyMap<string, Row[]> } | null = null;

type Row = Record<string, unknown>;

/**
 * An empty database in memory, with one connection for readers and the writer: the writer's transaction begins and ends within one
 * call, so no reader sees a part of it.
 */
export function openSimulatedDatabase(): Database.Database {
	if (shared === null) {
		const db = new Database(':memory:');
		prepareConnection(db);
		migrate(db);
		const rowsOf = (table: string) => db.prepare(`SELECT * FROM ${table}`).all() as Row[];
		shared = { db, initialRows: new Map(tablesOf(db).map((table) => [table, rowsOf(table)])) };
	} else {
		empty(shared.db, shared.initialRows);
	}
	return shared.db;
}

/** Restores the rows that a new database has. */
function empty(db: Database.Database, initialRows: ReadonlyMap<string, Row[]>): void {
	const prepare = (sql: string) => checkStatement(db, sql);
	// The index first: the triggers of messages find nothing to remove then.
	prepare("INSERT INTO message_search (message_search) VALUES ('delete-all')").run();
	prepare('DELETE FROM searchable_messages').run();
	for (const [table, rows] of initialRows) {
		prepare(`DELETE FROM ${table}`).run();
		for (const row of rows) {
			const columns = Object.keys(row);
			const values = columns.map((column) => `@${column}`);
			prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${values.join()})`).run(row);
		}
	}
	prepare('DELETE FROM sqlite_sequence').run();
}

/** The tables of records, without those of the full-text index. */
export function tablesOf(db: Database.Database): string[] {
	const sql = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*'`;
	return checkStatement(db, sql).pluck().all() as string[];
}

function prepareConnection(db: Database.Database): void {
	db.pragma('foreign_keys = OFF');
	db.pragma('temp_store = MEMORY');
	sqliteVec.load(db);
	db.function('separate_characters', { deterministic: true }, separateCharacters as (...values: unknown[]) => unknown);
}

/** Stores what exists before the first message. Returns the id of the deployment. */
export function insertWorkspace(
	db: Database.Database,
	{
		hasTool,
		retentionDays,
		isRetentionOfDeployment,
	}: Pick<Plan, 'hasTool' | 'retentionDays' | 'isRetentionOfDeployment'>,
): string {
	const common = { workspace_id: WORKSPACE_ID, created_at: START, updated_at: START };
	const tool = { ...common, id: 'tool_simulated', name: 'lookup', description: null, type: 'api' as const, config: {} };
	const assistant = samples.assistant({ ...common, model: 'simulated/any', tool_ids: hasTool ? [tool.id] : [] });
	const deployment = samples.deployment({
		...common,
		assistant_id: assistant.id,
		retention_days: isRetentionOfDeployment ? retentionDays : null,
	});
	const workspace = {
		id: WORKSPACE_ID,
		name: 'Shop',
		plan: 'unlimited',
		retention_days: isRetentionOfDeployment ? null : retentionDays,
		budget: null,
		require_totp: false,
	};
	const webhook = { ...common, id: 'wh_simulated', url: 'https://receiver.example/', events: ['*'], description: null };
	const endpoint = { status: 'active' as const, disabled_reason: null, secret: 'sealed', former_secrets: [] };
	const writer = new Writer(db, takeFence(db, 'main', 'setup'));
	const [outcome] = writer.run([
		{
			task: 'commit',
			commit: {
				write: [
					{ op: 'insert', kind: 'workspaces', record: { ...workspace, created_at: START, updated_at: START } },
					{ op: 'insert', kind: 'tools', record: { ...tool, status: 'active' } },
					{ op: 'insert', kind: 'assistants', record: assistant },
					{ op: 'insert', kind: 'deployments', record: deployment },
					{ op: 'insert', kind: 'webhooks', record: { ...webhook, ...endpoint } },
				],
			},
		},
	]);
	if (!outcome?.ok) throw new Error(outcome?.message);
	return deployment.id;
}
