import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { databaseFile } from '../../src/store/index.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';
import { program, startServer } from '../support/server-process.ts';

/** The schema of the first released database. */
const FIRST_RELEASE = 2;
const CONVERSATIONS = 20_000;
/** The upgrade is killed after every second step of the schema. */
const STEPS_BETWEEN_KILLS = 2;

test('an upgrade that is killed after any step leaves a whole schema, and the next start completes it', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-upgrade-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const original = join(folder, 'original.db');
	createFirstRelease(original);
	const ends: number[] = [];
	for (let step = FIRST_RELEASE + 1; step < MIGRATIONS.length; step += STEPS_BETWEEN_KILLS) {
		const dataDir = join(folder, `data-${step}`);
		await cp(original, databaseFile(dataDir), { recursive: true });
		await startAndKillAt(step, dataDir);
		const end = assertWhole(databaseFile(dataDir));
		assert.ok(end >= step);
		ends.push(end);
		if (step + STEPS_BETWEEN_KILLS >= MIGRATIONS.length) await assertServes(dataDir);
		else await rm(dataDir, { recursive: true });
	}
	t.diagnostic(`schemas after the kills: ${ends.join(', ')}; the current one is ${MIGRATIONS.length}`);
});

/** A database as the first release left it, with enough rows that its upgrade takes a moment. */
function createFirstRelease(file: string): void {
	const db = new Database(file);
	db.pragma('journal_mode = WAL');
	for (const sql of MIGRATIONS.slice(0, FIRST_RELEASE)) db.exec(sql);
	db.pragma(`user_version = ${FIRST_RELEASE}`);
	db.exec(`INSERT INTO workspaces VALUES ('ws_1', 1, 'Shop', 'unlimited', NULL, 10, 20)`);
	const conversation = db.prepare(
		`INSERT INTO conversations VALUES (?, 1, 'ws_1', 'dep_1', 'asst_1', 'api', 'active', NULL, '{}', NULL, NULL, 'model', 1, 1, 1, 1, NULL)`,
	);
	const message = db.prepare(
		`INSERT INTO messages VALUES (?, 1, 'ws_1', ?, 1, 'user', '{}', ?, 'completed', NULL, '[]', '[]', NULL, NULL, NULL, 0, 1, 1)`,
	);
	const event = db.prepare(`INSERT INTO events (id, stream, type, data, created_at) VALUES (?, 'ws_1', ?, ?, 1)`);
	db.transaction(() => {
		for (let at = 0; at < CONVERSATIONS; at++) {
			conversation.run(`conv_${at}`);
			message.run(`msg_${at}`, `conv_${at}`, `Where is order ${at}?`);
			event.run(`evt_${at}`, 'message.created', `{"id":"msg_${at}","conversation_id":"conv_${at}"}`);
		}
	})();
	db.pragma('wal_checkpoint(TRUNCATE)');
	db.close();
}

/** Starts the server, and kills it as soon as its database has the schema after a step. */
async function startAndKillAt(step: number, dataDir: string): Promise<void> {
	const child = spawn(program.command, [...program.args, 'serve'], {
		env: { PATH: process.env.PATH, PARLEY_DATA_DIR: dataDir, PARLEY_PORT: '0', ...program.env },
		stdio: 'ignore',
	});
	const exited = new Promise((resolve) => child.once('exit', resolve));
	const db = new Database(databaseFile(dataDir), { readonly: true });
	while ((db.pragma('user_version', { simple: true }) as number) < step) {
		assert.equal(child.exitCode, null, 'the server runs');
		await nextTurn();
	}
	child.kill('SIGKILL');
	db.close();
	await exited;
}

/** The database is undamaged, at the end of some step, and has all rows. @returns its schema */
function assertWhole(file: string): number {
	const db = new Database(file);
	try {
		const schema = db.pragma('user_version', { simple: true }) as number;
		assert.equal(db.pragma('integrity_check', { simple: true }), 'ok', `schema ${schema}`);
		const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
		assert.deepEqual([count('conversations'), count('messages')], [CONVERSATIONS, CONVERSATIONS], `schema ${schema}`);
		// The tables are those that the steps up to this schema make.
		const expected = new Database(':memory:');
		for (const sql of MIGRATIONS.slice(0, schema)) expected.exec(sql);
		assert.deepEqual(tablesOf(db), tablesOf(expected), `schema ${schema}`);
		expected.close();
		return schema;
	} finally {
		db.close();
	}
}

function tablesOf(db: Database.Database): unknown[] {
	return db.prepare('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name').all();
}

async function assertServes(dataDir: string): Promise<void> {
	await using server = await startServer({ dataDir });
	assert.equal((await server.call('GET', '/readyz')).status, 200);
	const db = new Database(databaseFile(dataDir), { readonly: true });
	assert.equal(db.pragma('user_version', { simple: true }), MIGRATIONS.length);
	assert.equal(db.prepare('SELECT count(*) FROM conversations').pluck().get(), CONVERSATIONS);
	db.close();
}
