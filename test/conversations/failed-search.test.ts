import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { inspectDatabase } from '../../src/store/index.ts';
import { createScene, settled } from '../api/scene.ts';
import { startTestApp } from '../support/app.ts';

const TEA = 'Green tea is brewed in the kettle at eighty degrees.';

test('a search index that lacks a table fails no reply; doctor finds it, and a reindex or a start heals it', async () => {
	const logged: Array<Record<string, unknown>> = [];
	const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
	await using first = await startTestApp({ overrides: { log } });
	const { deployment, knowledgeBase } = await createScene(first, { texts: [TEA] });
	const breakIndex = () => {
		const db = new Database(join(first.dataDir, 'parley.db'));
		db.exec('DROP TABLE generation_languages');
		db.close();
	};
	const ask = async (app: typeof first) =>
		(await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'How hot is green tea brewed?' }))
			.body;
	const base = `/api/v1/knowledge-bases/${knowledgeBase}`;
	breakIndex();
	const reply = await ask(first);
	assert.equal(reply.status, 'completed');
	assert.match(reply.content, /^I cannot search the documents right now/);
	const told = logged.filter(({ msg }) => msg === 'a reply is written without its search');
	assert.equal(told.length, 1);
	assert.match(String(told[0]?.cause), /generation_languages/);
	const search = await first.call('POST', `${base}/search`, { query: 'tea' });
	assert.deepEqual([search.status, search.body.error.message], [503, 'The search failed.']);
	assert.match(String(inspectDatabase(first.dataDir)?.problems), /generation_languages .*reindex/);

	await first.call('POST', `${base}/reindex`);
	await settled(first, knowledgeBase);
	assert.match((await ask(first)).content, /eighty degrees/);
	assert.deepEqual(inspectDatabase(first.dataDir)?.problems, []);

	breakIndex();
	await using second = await first.restart();
	assert.match((await ask(second)).content, /eighty degrees/);
});
