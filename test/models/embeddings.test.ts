import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, withDeadline } from '../../src/base/index.ts';
import { createEmbedders, isRecoverable } from '../../src/models/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import type { EmbeddingItem, EmbeddingsFault } from '../support/model-server/embeddings.ts';
import { ModelServer } from '../support/model-server.ts';
import { errorOf, NEVER_ABORTS, openEmbedder, vectorsOf } from './fixtures/embedder.ts';

const TEXTS = ['Green tea is brewed in a kettle.', 'The ink is blue.', 'A bicycle has two wheels.'];

/** The cosine of unit vectors. */
function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number {
	assert.ok(one && other && one.length === other.length);
	return one.reduce((sum, value, at) => sum + value * (other[at] as number), 0);
}

test('requests vectors by the protocol with the key, and returns unit vectors in the order of the texts', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const vectors = await vectorsOf(open.embedder, TEXTS);
	assert.equal(vectors.length, 3);
	for (const [at, vector] of vectors.entries()) {
		assert.equal(vector.length, 64);
		assert.ok(Math.abs(cosine(vector, vector) - 1) < 1e-5);
		const [again] = await vectorsOf(open.embedder, [TEXTS[at] as string]);
		assert.ok(cosine(vector, again) > 0.999, 'the same text has the same vector, alone or among others');
	}
	const { body, headers } = await server.embeddings.call(0);
	assert.deepEqual(body, { model: 'embed', input: TEXTS, encoding_format: 'float' });
	assert.equal(headers.authorization, 'Bearer sk-stand-in-0123456789abcdef');
	assert.equal(open.embedder.id, 'stand-in/embed');
});

test('sends no request for an empty list of texts', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	assert.deepEqual(await vectorsOf(open.embedder, []), []);
	assert.equal(server.embeddings.calls.length, 0);
});

test('accepts a model name with slashes and colons, and a number of dimensions', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider({ api_key: null }), 'stand-in/@cf/baai/bge-m3:latest?dimensions=24');
	const [vector] = await vectorsOf(open.embedder, ['Tea']);
	assert.equal(vector?.length, 24);
	const { body, headers } = await server.embeddings.call(0);
	assert.deepEqual([body.model, body.dimensions, headers.authorization], ['@cf/baai/bge-m3:latest', 24, undefined]);
	server.embeddings.enqueue({ items: (items) => items.map((item) => ({ ...item, embedding: [1, 2, 3] })) });
	const error = await errorOf(vectorsOf(open.embedder, ['Ink']));
	assert.match(error.message, /a vector of 3 values instead of 24/);
});

test('assigns vectors to texts by their numbers', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const expected = await vectorsOf(open.embedder, TEXTS);
	server.embeddings.enqueue({ items: (items) => items.toReversed() });
	assert.deepEqual(await vectorsOf(open.embedder, TEXTS), expected);
	server.embeddings.enqueue({ items: (items) => items.map(({ embedding }) => ({ embedding })) });
	assert.deepEqual(await vectorsOf(open.embedder, TEXTS), expected, 'without numbers, by their place');
});

test('splits many texts into batches by number, length and size of the response', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const texts = Array.from({ length: 250 }, (_, at) => `Text number ${at}.`);
	const vectors = await vectorsOf(open.embedder, texts);
	assert.equal(vectors.length, 250);
	assert.deepEqual(server.embeddings.texts.toSorted(), texts.toSorted());
	const [one] = await vectorsOf(open.embedder, [texts[249] as string]);
	assert.ok(cosine(vectors[249], one) > 0.999, 'each vector is that of its text');
	assert.ok(server.embeddings.calls.every(({ body }) => body.input.length <= 96));

	const before = server.embeddings.calls.length;
	await vectorsOf(open.embedder, texts);
	const sizes = server.embeddings.calls.slice(before).map(({ body }) => body.input.length);
	assert.deepEqual(sizes.toSorted(), [58, 96, 96], 'small vectors come many at a time');

	const long = Array.from({ length: 6 }, () => 'word '.repeat(4_000));
	await vectorsOf(open.embedder, long);
	for (const { body } of server.embeddings.calls) {
		assert.ok(body.input.reduce((sum, text) => sum + text.length, 0) <= 3 * 16_000);
	}

	server.embeddings.dimensions = () => 4_096;
	await using wide = openEmbedder(server.provider());
	await vectorsOf(wide.embedder, ['Tea']);
	const from = server.embeddings.calls.length;
	await vectorsOf(wide.embedder, texts.slice(0, 40));
	assert.deepEqual(
		server.embeddings.calls
			.slice(from)
			.map(({ body }) => body.input.length)
			.toSorted(),
		[16, 16, 8],
		'large ones few',
	);
});

test('sends only a few batches at a time', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	let release = () => {};
	server.embeddings.setDefault({
		wait: new Promise<void>((resolve) => {
			release = resolve;
		}),
	});
	const texts = Array.from({ length: 420 }, (_, at) => `Text number ${at}.`);
	const asked = vectorsOf(open.embedder, texts);
	await server.embeddings.call(3);
	const [question] = [
		await Promise.race([open.embedder.embedQuestion('Tea?', NEVER_ABORTS), server.embeddings.call(4)]),
	];
	assert.equal((question as { body: { input: string[] } }).body.input[0], 'Tea?', 'a question waits behind none');
	release();
	assert.equal((await asked).length, 420);
});

test('cuts a text that is longer than the model reads', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider({ context_tokens: 512 }));
	await vectorsOf(open.embedder, ['word '.repeat(5_000)]);
	await open.embedder.embedQuestion('word '.repeat(5_000), NEVER_ABORTS);
	const long = server.embeddings.texts.filter((text) => text.startsWith('word'));
	assert.equal(long.length, 2);
	for (const text of long) assert.ok(text.length > 1_000 && text.length <= 3 * 512, `${text.length}`);
});

const passing: Array<[what: string, fault: EmbeddingsFault]> = [
	['fails with 500', { status: 500 }],
	['is overloaded', { status: 503 }],
	['breaks off', { die: true }],
];
for (const [what, fault] of passing) {
	test(`a provider that ${what} for a moment gets the request again`, async () => {
		await using server = await ModelServer.start();
		await using open = openEmbedder(server.provider());
		server.embeddings.enqueue(fault, fault);
		assert.equal((await vectorsOf(open.embedder, TEXTS)).length, 3);
		const [first, second, third] = server.embeddings.calls;
		assert.deepEqual(third?.body, first?.body);
		assert.ok(second && first && second.at - first.at >= 245, 'after a while');
	});
}

test('waits before a retry as long as the provider asks', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	server.embeddings.enqueue({ status: 429, headers: { 'retry-after': '1' } });
	assert.equal((await vectorsOf(open.embedder, TEXTS)).length, 3);
	const [first, second] = server.embeddings.calls.map(({ at }) => at) as [number, number];
	assert.ok(second - first >= 995, `${second - first}`);
});

test('fails at once with a recoverable error if the provider asks for an hour', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	server.embeddings.setDefault({ status: 429, headers: { 'retry-after': '3600' } });
	const error = await errorOf(vectorsOf(open.embedder, TEXTS));
	assert.match(error.message, /takes no more requests for now/);
	assert.equal(isRecoverable(error), true);
	assert.equal(server.embeddings.calls.length, 1);
});

const broken: Array<[what: string, fault: EmbeddingsFault, sentence: RegExp]> = [
	['a vector too few', { items: (items) => items.slice(1) }, /sent 2 vectors for 3 texts/],
	['a vector too many', { items: (items) => [...items, items[0]] }, /sent 4 vectors for 3 texts/],
	['no vectors', { items: () => [] }, /sent 0 vectors for 3 texts/],
	['vectors of two lengths', { items: shortened }, /a vector of 63 values instead of 64/],
	['empty vectors', { items: (items) => items.map((item) => ({ ...item, embedding: [] })) }, /no vector/],
	['null for a vector', { items: (items) => items.map((item) => ({ ...item, embedding: null })) }, /no vector/],
	['null for a number', { items: (items) => withValue(items, null) }, /a value that is not a number/],
	['a text for a number', { items: (items) => withValue(items, '0.5') }, /a value that is not a number/],
	['a number beyond all others', { items: (items) => withValue(items, 1e308) }, /without a direction/],
	['zeros', { items: (items) => items.map((item) => ({ ...item, embedding: [0, 0] })) }, /without a direction/],
	['NaN', { raw: '{"data":[{"index":0,"embedding":[NaN]}]}' }, /not part of its protocol/],
	['no JSON', { raw: '<html>' }, /not part of its protocol/],
	['no list', { raw: '{"data":{}}' }, /not part of its protocol/],
	['the same number twice', { items: (items) => items.map((item) => ({ ...item, index: 0 })) }, /which vector/],
	['a number that is none', { items: (items) => items.map((item) => ({ ...item, index: 7 })) }, /which vector/],
	['vectors of 5,000 values', { items: (items) => items.map(long) }, /too long: 4096/],
	['an answer of 40 MB', { huge: 40_000_000 }, /too large/],
];

function shortened(items: EmbeddingItem[]): EmbeddingItem[] {
	return items.map((item) => (item.index === 1 ? { ...item, embedding: item.embedding.slice(1) } : item));
}
function withValue(items: EmbeddingItem[], value: unknown): unknown[] {
	return items.map((item) => ({ ...item, embedding: item.embedding.with(3, value as number) }));
}
function long(item: EmbeddingItem): EmbeddingItem {
	return { ...item, embedding: new Array(5_000).fill(1) };
}

for (const [what, fault, sentence] of broken) {
	test(`a provider that sends ${what} fails without a retry`, async () => {
		await using server = await ModelServer.start();
		await using open = openEmbedder(server.provider());
		server.embeddings.enqueue(fault);
		const error = await errorOf(vectorsOf(open.embedder, TEXTS));
		assert.match(error.message, sentence);
		assert.equal(isRecoverable(error), false);
		assert.equal(server.embeddings.calls.length, 1);
		assert.equal((await vectorsOf(open.embedder, TEXTS)).length, 3, 'the next request is made as ever');
	});
}

test('does not retry a refused request, and keeps the key out of the log', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const body = JSON.stringify({ error: { message: 'Incorrect API key: sk-stand-in-0123456789abcdef' } });
	server.embeddings.enqueue({ status: 401, body });
	const error = await errorOf(vectorsOf(open.embedder, TEXTS));
	assert.match(error.message, /did not accept this server's key/);
	assert.equal(isRecoverable(error), true, 'the key may be renewed');
	assert.match(open.logText(), /Incorrect API key/);
	assert.doesNotMatch(open.logText(), /sk-stand-in/);
});

test('reads an error with status 200', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	server.embeddings.enqueue({ raw: '{"error":{"message":"model not loaded","code":404}}' });
	const error = await errorOf(vectorsOf(open.embedder, TEXTS));
	assert.match(error.message, /does not know the model/);
	assert.match(open.logText(), /model not loaded/);
});

test('waits for a silent provider until the time limit of the settings, and fails with a recoverable error', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider({ first_token_timeout_ms: 300 }));
	server.embeddings.setDefault({ hang: true });
	const error = await errorOf(vectorsOf(open.embedder, TEXTS));
	assert.match(error.message, /did not answer within 0\.3 seconds/);
	assert.equal(isRecoverable(error), true);
	assert.equal(server.embeddings.calls.length, 1);
	assert.equal(await (await server.embeddings.call(0)).callerLeft, true, 'the connection is closed');
});

test('fails a question after seconds', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	server.embeddings.enqueue({ status: 500 });
	const [vector] = [await open.embedder.embedQuestion('Tea?', NEVER_ABORTS)];
	assert.equal(vector.length, 64, 'tried twice');
	server.embeddings.setDefault({ hang: true });
	const error = await errorOf(open.embedder.embedQuestion('Tea?', NEVER_ABORTS));
	assert.match(error.message, /within 3 seconds/);
	assert.equal(await (await server.embeddings.call(2)).callerLeft, true);
	server.embeddings.setDefault({ status: 503 });
	const before = server.embeddings.calls.length;
	await errorOf(open.embedder.embedQuestion('Tea?', NEVER_ABORTS));
	assert.equal(server.embeddings.calls.length - before, 2);
});

test('aborts all requests of a caller that returns early', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	server.embeddings.setDefault({ hang: true });
	const controller = new AbortController();
	const reason = new Error('the server stops');
	const texts = Array.from({ length: 100 }, (_, at) => `Text ${at}.`);
	const asked = vectorsOf(open.embedder, texts, controller.signal);
	const calls = [await server.embeddings.call(0), await server.embeddings.call(2)];
	controller.abort(reason);
	await assert.rejects(asked, (thrown) => thrown === reason);
	for (const { callerLeft } of calls) {
		assert.equal(await withDeadline(callerLeft, 60_000, () => new Error('The connection is still open.')), true);
	}
	assert.equal(server.embeddings.calls.length, 3, 'what was dropped is not tried again');
});

test('measures the cosine of unrelated texts once', async () => {
	await using server = await ModelServer.start();
	await using open = openEmbedder(server.provider());
	const low = await open.embedder.floor(NEVER_ABORTS);
	assert.ok(low >= 0 && low < 0.4, `${low}`);
	const { calls } = server.embeddings;
	assert.deepEqual([await open.embedder.floor(NEVER_ABORTS), calls.length], [low, 1]);
	server.embeddings.sharedComponent = 2;
	await using narrow = openEmbedder(server.provider());
	const high = await narrow.embedder.floor(NEVER_ABORTS);
	assert.ok(high > 0.6 && high <= 0.95, `${high}`);
});

test('refuses an embedder of a provider that is not configured or has no embeddings', async () => {
	await using server = await ModelServer.start();
	await using network = createNetwork({ allowPrivateNetwork: false });
	await using open = openEmbedder(server.provider());
	const { embedders } = open;
	for (const id of ['other/embed', 'embed', 'builtin', 'stand-in/']) assert.equal(embedders.resolve(id), null, id);
	assert.equal(embedders.resolve('stand-in/embed'), open.embedder);
	assert.notEqual(embedders.resolve('stand-in/embed?dimensions=8'), open.embedder);
	const settings = [server.provider({ id: 'claude', type: 'anthropic' })];
	const rest = { network, clock: { now: () => 0 }, log: { warn() {}, info() {} } as never };
	for (const id of ['claude/embed', 'other/embed', 'embed']) {
		assert.throws(
			() => createEmbedders(id, settings, rest),
			(thrown) => thrown instanceof AppError && thrown.message.includes(`'${id}'`),
		);
	}
	assert.equal(createEmbedders('builtin', settings, rest).configured, 'builtin');
});
