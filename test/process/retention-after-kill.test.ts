import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { firstWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import * as samples from '../store/samples.ts';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const DAY = 24 * 3_600_000;
const OLD = 400;
const YOUNG = 40;

test('a server killed during an erasure completes it after the restart and erases nothing else', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-retention-kill-'));
	t.after(() => rm(dataDir, { recursive: true, force: true }));
	const first = await startServer({ dataDir });
	const { key } = first;
	await first.stop();

	const old: string[] = [];
	const young: string[] = [];
	const counted = async () => {
		await using store = await openStoreDirectly({ dataDir });
		const there = async (ids: readonly string[]) => {
			const found = await Promise.all(ids.map((id) => store.get('conversations', id)));
			return found.filter((record) => record !== undefined).length;
		};
		const halves = await Promise.all(
			[...old, ...young].map(async (id) => {
				const record = (await store.get('conversations', id)) !== undefined;
				const messages = await store.list('messages', { where: { conversation_id: id }, order: 'asc', limit: 3 });
				const events = await store.events.after(id, 0, 3);
				return record ? messages.length !== 2 || events.length !== 1 : messages.length + events.length > 0;
			}),
		);
		return { old: await there(old), young: await there(young), halves: halves.filter(Boolean).length };
	};
	{
		await using store = await openStoreDirectly({ dataDir });
		const workspace_id = await firstWorkspace(store);
		await store.commit({
			write: [{ op: 'patch', kind: 'workspaces', id: workspace_id, set: { retention_days: 30 } }],
		});
		for (let n = 0; n < OLD + YOUNG; n++) {
			const last_message_at = Date.now() - (n < OLD ? 31 : 29) * DAY;
			const record = samples.conversation({ workspace_id, last_message_at, message_count: 2 });
			(n < OLD ? old : young).push(record.id);
			const said = [1, 2].map((seq) => samples.message({ workspace_id, conversation_id: record.id, seq }));
			await store.commit({
				write: [
					{ op: 'insert', kind: 'conversations', record },
					...said.map((message) => ({ op: 'insert', kind: 'messages', record: message }) as const),
				],
				events: [samples.event(record.id)],
			});
		}
	}
	assert.deepEqual(await counted(), { old: OLD, young: YOUNG, halves: 0 });

	for (const next of [old[0], old[OLD / 2]] as string[]) {
		await using store = await openStoreDirectly({ dataDir });
		await using server = await startServer({ dataDir, key });
		await until('this one is gone', async () => (await store.get('conversations', next)) === undefined);
		await server.kill();
		const left = await counted();
		t.diagnostic(`${left.old} of ${OLD} left`);
		assert.deepEqual([left.young, left.halves], [YOUNG, 0]);
	}
	await using server = await startServer({ dataDir, key });
	await until('all are gone', async () => (await counted()).old === 0);
	assert.deepEqual(await counted(), { old: 0, young: YOUNG, halves: 0 });
	assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
});
