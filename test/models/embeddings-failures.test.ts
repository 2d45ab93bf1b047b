import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred, withDeadline } from '../../src/base/index.ts';
import { type Embedder, isRecoverable } from '../../src/models/index.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { errorOf, NEVER_ABORTS, openEmbedder, vectorsOf } from './fixtures/embedder.ts';

/** A failure after which the request is not retried. */
const GONE = { status: 503, headers: { 'retry-after': '3600' } };
const TEXTS = Array.from({ length: 200 }, (_, at) => `Text ${at}.`);

/** The batches of texts before a failure, and the failure if there is one. */
async function gathered(embedder: Embedder, texts: readonly string[], signal = NEVER_ABORTS) {
	const places: number[] = [];
	try {
		for await (const { offset, vectors } of embedder.embedDocuments(texts, signal)) {
			places.push(...vectors.map((_, row) => offset + row));
		}
	} catch (error) {
		return { places, error };
	}
	return { places, error: undefined };
}

test('begins no batch after a permanent failure, and yields those in progress before it throws', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const release = deferred<void>();
	const sent: string[][] = [];
	server.embeddings.setDefault(({ body }) => {
		sent.push(body.input);
		return sent.length === 2 ? { status: 400 } : { wait: release.promise };
	});
	const asked = gathered(open.embedder, TEXTS);
	await until('the refusal has come', () => /an embeddings provider failed/.test(open.logText()));
	release.resolve();
	const { places, error } = await asked;
	assert.match(String(error), /did not accept the request/);
	assert.equal(sent.length, 4, 'those that were under way, and no other');
	const paid = sent.filter((_, call) => call !== 1).flat();
	assert.deepEqual(places.map((place) => TEXTS[place]).toSorted(), paid.toSorted());
});

test('cancels a waiting retry after another batch has failed permanently', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const both = deferred<void>();
	let calls = 0;
	server.embeddings.setDefault(() => {
		calls++;
		if (calls === 1) return { status: 429, headers: { 'retry-after': '50' } };
		return calls === 2 ? { wait: both.promise } : { status: 400 };
	});
	const asked = gathered(open.embedder, TEXTS.slice(0, 120));
	await until('the first waits', () => /retrying a request to an embeddings provider/.test(open.logText()));
	both.resolve();
	const { error } = await withDeadline(asked, 20_000, () => new Error('It is still waiting.'));
	assert.match(String(error), /did not accept the request/);
	assert.equal(calls, 3);
});

test('yields vectors as they arrive, without waiting for a slow batch, and aborts the rest if the consumer returns early', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const first = deferred<string>();
	server.embeddings.setDefault(({ body }) => {
		first.resolve(body.input[0] as string);
		return body.input[0] === 'Text 0.' ? { hang: true } : undefined;
	});
	let given = 0;
	for await (const { offset, vectors } of open.embedder.embedDocuments(TEXTS, NEVER_ABORTS)) {
		assert.notEqual(offset, 0);
		given += vectors.length;
		if (given > 100) break;
	}
	assert.ok(given > 100 && given < 200);
	const hung = server.embeddings.calls.find(({ body }) => body.input[0] === 'Text 0.');
	assert.equal(
		await withDeadline(hung?.callerLeft ?? Promise.resolve(false), 10_000, () => new Error('Still open.')),
		true,
	);
});

test('prints no warning about too many listeners with many batches', async () => {
	const warnings: string[] = [];
	const note = ({ name }: Error) => void warnings.push(name);
	process.on('warning', note);
	try {
		await using server = await ModelServer.start();
		server.embeddings.dimensions = () => 4_096;
		await using open = openEmbedder(server.provider());
		assert.equal((await vectorsOf(open.embedder, TEXTS)).length, 200);
		await new Promise((resolve) => setImmediate(resolve));
		assert.deepEqual(warnings, []);
	} finally {
		process.off('warning', note);
	}
});

test('sends no requests for a while after five consecutive failures, then one', async () => {
	let now = 1_000_000;
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider(), undefined, { clock: { now: () => now } });
	server.embeddings.setDefault(GONE);
	for (let at = 0; at < 5; at++) await errorOf(vectorsOf(open.embedder, ['Tea']));
	for (let at = 0; at < 5; at++) await errorOf(open.embedder.embedQuestion('Tea?', NEVER_ABORTS));
	assert.equal(server.embeddings.calls.length, 10);
	for (const asked of [vectorsOf(open.embedder, ['Tea']), open.embedder.embedQuestion('Tea?', NEVER_ABORTS)]) {
		const error = await errorOf(asked);
		assert.match(error.message, /gets no requests for a while/);
		assert.equal(isRecoverable(error), true);
	}
	assert.equal(server.embeddings.calls.length, 10, 'nobody is asked');
	server.embeddings.setDefault(undefined);
	now += 10_000;
	assert.equal((await vectorsOf(open.embedder, TEXTS)).length, 200, 'of many batches the first one tries');
	await open.embedder.embedQuestion('Tea?', NEVER_ABORTS);
});

test('has separate circuits for questions and documents', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const isQuestion = (input: readonly string[]) => input[0]?.endsWith('?');
	server.embeddings.setDefault(({ body }) => (isQuestion(body.input) ? GONE : undefined));
	for (let at = 0; at < 5; at++) await errorOf(open.embedder.embedQuestion('Tea?', NEVER_ABORTS));
	assert.match((await errorOf(open.embedder.embedQuestion('Tea?', NEVER_ABORTS))).message, /gets no requests/);
	assert.equal((await vectorsOf(open.embedder, TEXTS)).length, 200);

	await using other = openEmbedder(server.provider());
	server.embeddings.setDefault(({ body }) => (isQuestion(body.input) ? undefined : GONE));
	for (let at = 0; at < 5; at++) await errorOf(vectorsOf(other.embedder, ['Tea']));
	assert.match((await errorOf(vectorsOf(other.embedder, ['Tea']))).message, /status 503\. .* gets no requests/);
	assert.equal((await other.embedder.embedQuestion('Tea?', NEVER_ABORTS)).length, 64);
});

test('identifies a model by the vector of one text, which it requests with the first question', async () => {
	await using server = await ModelServer.start();
	await using asked = openEmbedder(server.provider());
	await asked.embedder.embedQuestion('Tea?', NEVER_ABORTS);
	const { calls } = server.embeddings;
	assert.equal(calls.length, 1);
	const sample = await asked.embedder.sample(NEVER_ABORTS);
	assert.equal(calls.length, 1, 'it is there already');
	await asked.embedder.embedQuestion('Ink?', NEVER_ABORTS);
	assert.deepEqual(calls[1]?.body.input, ['Ink?']);
	await using other = openEmbedder(server.provider());
	assert.deepEqual(await other.embedder.sample(NEVER_ABORTS), sample);
	assert.deepEqual([await other.embedder.sample(NEVER_ABORTS), calls.length], [sample, 3]);
	await using measured = openEmbedder(server.provider());
	await measured.embedder.floor(NEVER_ABORTS);
	assert.deepEqual(
		[await measured.embedder.sample(NEVER_ABORTS), calls.length],
		[sample, 4],
		'it is one of those measured',
	);
});
