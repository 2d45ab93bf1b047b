import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { deferred } from '../../src/base/index.ts';
import { commands, findCommand, runCommand } from '../../src/commands/index.ts';
import { loadConfig, type Settings } from '../../src/config/index.ts';
import { createApiFixture, createResource, untilSettled } from '../api/fixture.ts';
import { openKnowledgeHarness } from '../knowledge/knowledge-harness.ts';
import { startTestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';

const TEA = 'Green tea is brewed in the kettle at eighty degrees.';

/** A search that fails is tried until this time. */
const FAILING_SEARCH_MS = 3_000;

/** What the doctor finds. */
async function doctor(dataDir: string): Promise<string> {
	const command = findCommand(commands, ['doctor']) ?? assert.fail('there is no such command');
	const printed: string[] = [];
	await runCommand(command, ['doctor'], {
		settings: () => loadConfig({ env: { PARLEY_DATA_DIR: dataDir }, file: 'no-such-file.json' }),
		print: (line) => printed.push(line),
		printInfo: () => {},
	});
	return printed.join('\n');
}

test('replies without a search while an index lacks a table; doctor, reindex and start repair it', async () => {
	const logged: Array<Record<string, unknown>> = [];
	const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
	await using first = await startTestApp({ overrides: { log, searchTimeoutMs: FAILING_SEARCH_MS } });
	const { deployment, knowledgeBase } = await createApiFixture(first, { texts: [TEA] });
	const breakIndex = () => {
		const db = new Database(join(first.dataDir, 'parley.db'));
		db.exec('DROP TABLE generation_languages');
		db.close();
	};
	const ask = async (app: typeof first) =>
		(await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'How hot is green tea brewed?' }))
			.body;
	/** On a busy machine a search may take longer than the time limit for failing searches. */
	const untilFound = (app: typeof first) =>
		until('a reply has the answer', async () => /eighty degrees/.test((await ask(app)).content));
	const base = `/api/v1/knowledge-bases/${knowledgeBase}`;
	breakIndex();
	const told = () => logged.filter(({ cause }) => String(cause).includes('generation_languages'));
	// On a busy machine the time limit may pass before the search has failed: then the log has no cause.
	await until('the log names the missing table', async () => {
		const reply = await ask(first);
		assert.equal(reply.status, 'completed');
		assert.match(reply.content, /^I cannot search the documents right now/);
		return told().length > 0;
	});
	assert.deepEqual([told().length, told()[0]?.count], [1, 1]);
	assert.equal(told()[0]?.msg, 'a reply is written without its search');
	assert.match((await ask(first)).content, /^I cannot search/);
	assert.equal(told().length, 1, 'once a minute');
	const search = await first.call('POST', `${base}/search`, { query: 'tea' });
	assert.deepEqual([search.status, search.body.error.message], [503, 'The search failed.']);
	const { request_id } = search.body.error;
	const line = logged.find((each) => each.request_id === request_id);
	assert.match(String(line?.causes), /generation_languages/, 'the id of the answer leads to the cause');

	assert.match(await doctor(first.dataDir), /^ok +database .*lacked the table of languages; it was restored\.$/m);
	await untilFound(first);
	assert.doesNotMatch(await doctor(first.dataDir), /made again/);

	breakIndex();
	await first.call('POST', `${base}/reindex`);
	await untilSettled(first, knowledgeBase);
	await untilFound(first);
	assert.doesNotMatch(await doctor(first.dataDir), /made again/);

	breakIndex();
	await using second = await first.restart();
	await untilFound(second);
});

test('tells the model of a provider that the search failed', async () => {
	await using models = await ModelServer.start();
	await using app = await startTestApp({
		settings: { providers: [models.provider()] },
		overrides: { searchTimeoutMs: FAILING_SEARCH_MS },
	});
	const { deployment } = await createApiFixture(app, { texts: [TEA], model: 'stand-in/small' });
	const ask = () =>
		app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'How hot is green tea brewed?' });
	const instructions = () => JSON.stringify(models.calls.at(-1)?.body.messages[0]);
	await until('a search succeeds', async () => {
		await ask();
		return !instructions().includes('search in the documents has failed');
	});
	const db = new Database(join(app.dataDir, 'parley.db'));
	db.exec('DROP TABLE generation_languages');
	db.close();
	await ask();
	assert.match(
		instructions(),
		/The search in the documents has failed for this question\. .*make up nothing that they might say/,
	);
});

test('a search falls back to full text when the vector of its question takes too long', async () => {
	await using models = await ModelServer.start();
	await using room = await openKnowledgeHarness({ embedder: 'stand-in/first', providers: [models.provider()] });
	room.knowledge.start();
	const base = await room.newBase();
	await room.untilProcessed(await room.add(base, 'tea.txt', TEA));
	const answered = deferred<void>();
	models.embeddings.enqueue({ wait: answered.promise });
	const record = await room.base(base);
	const options = { top_k: 5, min_score: 0, vectorTimeoutMs: 1 };
	const { hits } = await room.knowledge.search([record], 'How hot is green tea brewed?', options);
	assert.deepEqual(
		hits.map(({ text, semantic_score }) => [text, semantic_score]),
		[[TEA, 0]],
	);
	assert.equal(room.logLines.at(-1)?.msg, 'a search goes by words alone: no vector for its question');
	answered.resolve();
});

test('limits the time for the vectors of all knowledge bases together, then searches full text', async () => {
	await using models = await ModelServer.start();
	const settings: Partial<Settings> = { providers: [models.provider()], embedder: 'stand-in/first' };
	await using first = await startTestApp({ settings });
	const { assistant, deployment } = await createApiFixture(first, { texts: [TEA] });
	settings.embedder = 'stand-in/second';
	await using app = await first.restart();
	const other = await createResource(app, '/api/v1/knowledge-bases', { name: 'Another embedder made its vectors' });
	await createResource(app, `/api/v1/knowledge-bases/${other}/documents`, {
		source_type: 'text',
		content: 'Ink dries on paper.',
	});
	await untilSettled(app, other);
	await app.call('POST', `/api/v1/assistants/${assistant}/knowledge-bases`, { knowledge_base_id: other });
	const answered = deferred<void>();
	models.embeddings.setDefault({ wait: answered.promise });
	const question = { deployment_id: deployment, content: 'How hot is green tea brewed?' };
	const before = models.embeddings.calls.length;
	const reply = await app.call('POST', '/api/v1/messages', question);
	assert.match(reply.body.content, /eighty degrees/);
	const requested = models.embeddings.calls.slice(before);
	assert.deepEqual(
		requested.map(({ body }) => body.model),
		['first'],
		'the first took all the time',
	);
	answered.resolve();
});
