import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { signWithSecret } from '../access/signers.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { type ApiResponse, startTestApp, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { addWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture } from './fixture.ts';

/** End users who are erased; as many are kept. */
const USERS = process.env.CANARIES === 'full' ? 1_000 : 25;
const CONCURRENCY = 20;
const SECRET = 'a secret of the shop, long enough';

const app = await startTestApp({ settings: { allow_private_network: true } });
after(() => app[Symbol.asyncDispose]());
/** An endpoint that repeats what it gets. */
const echo = createServer((request, response) => request.pipe(response));
await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
after(() => echo.close());

requireSuccess(await app.call('POST', '/api/v1/webhooks', { url: `${echoUrl}/echo`, events: ['*'] }));

const deployment = (
	await createApiFixture(app, {
		deployment: { features: { jwt_required: true }, jwt: { algorithm: 'HS256', secret: SECRET } },
	})
).deployment;

function requireSuccess({ status, body }: ApiResponse) {
	assert.ok(status < 300, JSON.stringify(body));
	return body;
}

const visit = (word: string, path: string, body: object, headers: Record<string, string> = {}) => {
	const exp = Math.floor(Date.now() / 1000) + 3_600;
	const token = signWithSecret(SECRET, { sub: `id-${word}`, exp, name: `Name ${word}`, email: `${word}@mail.example` });
	return app.callAsVisitor(
		'POST',
		path,
		{ deployment_id: deployment, ...body },
		{ authorization: `Bearer ${token}`, ...headers },
	);
};

/** A conversation with the word in every place that keeps a visitor's data. */
async function converse(word: string): Promise<string> {
	const key = { 'idempotency-key': `key of ${word}` };
	const message = { content: `Where is ${word}? ${'Please. '.repeat(word.length * 9)}`, metadata: { word } };
	const reply = requireSuccess(await visit(word, '/api/v1/widget/messages', message, key));
	const rating = { rating: 'down', comment: `Not what ${word} asked.` };
	requireSuccess(await visit(word, `/api/v1/widget/messages/${reply.id}/feedback`, rating));
	const path = `/api/v1/conversations/${reply.conversation_id}`;
	requireSuccess(await app.call('POST', `${path}/notes`, { content: `Note about ${word}.` }, key));
	requireSuccess(await app.call('PATCH', path, { title: `Longer title about ${word}`, metadata: { more: word } }));
	requireSuccess(await app.call('PATCH', path, { status: 'archived' }));
	// A refusal is stored, too.
	const refused = { content: word, conversation_id: reply.conversation_id };
	assert.equal((await visit(word, '/api/v1/widget/messages', refused, { 'idempotency-key': word })).status, 400);
	return reply.conversation_id;
}

async function each<T, R>(items: readonly T[], perform: (item: T) => Promise<R>): Promise<R[]> {
	const results: R[] = [];
	for (let start = 0; start < items.length; start += CONCURRENCY) {
		results.push(...(await Promise.all(items.slice(start, start + CONCURRENCY).map(perform))));
	}
	return results;
}

/** How often a text is in each file of the data folder that has it. */
async function filesWith(text: string): Promise<Record<string, number>> {
	const found: Record<string, number> = {};
	for (const entry of await readdir(app.dataDir, { recursive: true, withFileTypes: true })) {
		if (!entry.isFile()) continue;
		const file = join(entry.parentPath, entry.name);
		const count = (await readFile(file, 'latin1')).split(text).length - 1;
		if (count > 0) found[file] = count;
	}
	return found;
}

async function erase(endUser: string) {
	return requireSuccess(await app.call('POST', '/api/v1/erasures', { end_user_id: endUser }));
}

async function completed(id: string, on: Pick<TestApp, 'call'> = app) {
	let erasure: { status: string; [field: string]: unknown } = { status: '' };
	await until('the erasure is done', async () => {
		erasure = requireSuccess(await on.call('GET', `/api/v1/erasures/${id}`));
		return erasure.status === 'done';
	});
	// biome-ignore lint/suspicious/noExplicitAny: the shape is tested by the conformance tests
	return erasure as any;
}

test('an export has everything that is stored about an end user, and nothing of others', async () => {
	await converse('exported');
	await converse('neighbour-of-it');
	const path = '/api/v1/end-users/export?end_user_id=id-exported';
	const download = () => fetch(app.url + path, { headers: { authorization: `Bearer ${app.key}` } });
	await until('the question is counted', async () => (await (await download()).text()).includes('unanswered_question'));
	const response = await download();
	assert.equal(response.headers.get('content-type'), 'application/jsonl');
	const text = await response.text();
	assert.ok(!text.includes('neighbour-of-it'));
	const lines = text
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));
	const count = (type: string) => lines.filter((line) => line.type === type).length;
	assert.deepEqual(lines[0].resource.end_user_id, 'id-exported');
	assert.deepEqual(lines.at(-1), { type: 'end', resource: { lines: lines.length } });
	assert.deepEqual([count('conversation'), count('message'), count('note')], [1, 2, 1]);
	assert.deepEqual([count('stored_response'), count('unanswered_question')], [2, 1]);
	const shown = lines.find(({ type }) => type === 'conversation').resource;
	for (const { type, resource } of lines) {
		if (type === 'message' || type === 'note') assert.equal(resource.conversation_id, shown.id);
	}
	// That of the message has only the ids of question and reply, which a repeat reads again.
	const bodies = lines.filter(({ type }) => type === 'stored_response').map(({ resource }) => resource.body);
	assert.deepEqual(bodies.map((body) => body?.includes('exported') ?? null).toSorted(), [null, true]);
	const { counts } = await completed((await erase('id-exported')).id);
	const deliveries = lines.filter(({ type }) => type === 'delivery');
	assert.equal(count('event'), counts.events);
	assert.deepEqual([deliveries.length, deliveries.length > 0], [counts.deliveries, true]);
});

test('the costs of an end user and the events about the budget are exported and counted, also without a conversation', async () => {
	const price = { input: 1_000_000, output: 1_000_000, reserved_micros: 500 };
	const model = new ManualModel({ price });
	await using priced = await startTestApp({ overrides: { providers: [model.provider] } });
	const { deployment: deployment_id } = await createApiFixture(priced, {
		model: 'scripted/any',
		deployment: {
			features: { jwt_required: true },
			jwt: { algorithm: 'HS256', secret: SECRET },
			visitor_budget: { amount_micros: 600, period: 'day' },
		},
	});
	for (const [index, sub] of ['payer', 'other'].entries()) {
		const authorization = `Bearer ${signWithSecret(SECRET, { sub, exp: Math.floor(Date.now() / 1000) + 3_600 })}`;
		const body = { deployment_id, content: 'Hello' };
		const sent = priced.callAsVisitor('POST', '/api/v1/widget/messages', body, { authorization });
		const { say, report, end } = await model.reply(index);
		say('Yes.');
		report(400, 100);
		end();
		const { conversation_id } = requireSuccess(await sent);
		await until('the budget was reported', async () => {
			const { body } = await priced.call('GET', '/api/v1/events?types=budget.warning');
			return body.data.length === index + 1;
		});
		requireSuccess(await priced.call('DELETE', `/api/v1/conversations/${conversation_id}?purge=true`));
	}
	const exported = async () => {
		const headers = { authorization: `Bearer ${priced.key}` };
		const response = await fetch(`${priced.url}/api/v1/end-users/export?end_user_id=payer`, { headers });
		const lines = (await response.text()).trimEnd().split('\n');
		return lines.map((line) => JSON.parse(line));
	};
	const [, event, cost, ...rest] = await exported();
	assert.deepEqual([event.type, event.resource.type, rest.length], ['event', 'budget.warning', 1]);
	const { visitor_id } = event.resource.data;
	const { day, ...sum } = cost.resource;
	assert.match(`${cost.type} ${day}`, /^cost ....-..-..T00:00:00.000Z$/);
	assert.deepEqual(sum, { deployment_id, visitor_id, cost_micros: 500, reserved_micros: 0 });
	const { id } = requireSuccess(await priced.call('POST', '/api/v1/erasures', { end_user_id: 'payer' }));
	const { counts } = await completed(id, priced);
	assert.deepEqual([counts.conversations, counts.events, counts.cost_rows], [0, 1, 2]);
	assert.equal((await exported()).length, 2);
	const { data } = requireSuccess(await priced.call('GET', '/api/v1/costs?group_by=visitor'));
	assert.equal(data.length, 1, 'those of others stay');
});

test('an export is in the audit log under the name of who made it, without personal data', async () => {
	await converse('recorded');
	const path = '/api/v1/end-users/export';
	const response = await fetch(`${app.url}${path}?end_user_id=id-recorded`, {
		headers: { authorization: `Bearer ${app.key}` },
	});
	assert.match(await response.text(), /id-recorded/);
	const { data } = requireSuccess(await app.call('GET', '/api/v1/audit-log?action=exportEndUser&limit=1'));
	const [record] = data;
	const { data: keys } = requireSuccess(await app.call('GET', '/api/v1/api-keys'));
	assert.ok(keys.some(({ id }: { id: string }) => id === record.actor.id));
	assert.deepEqual(
		[record.fields, record.path, record.resource.type, record.details],
		[['end_user_id'], path, 'workspace', null],
	);
	assert.equal(record.request_id, response.headers.get('x-request-id'));
	assert.doesNotMatch(JSON.stringify(record), /recorded@|id-recorded|Name recorded/);
});

test('of erased end users no file has anything, and the data of others is untouched', async () => {
	const number = (index: number) => String(index).padStart(5, '0');
	const words = Array.from({ length: USERS }, (_, index) => [
		`canary${number(index)}`,
		`keeper${number(index)}`,
	]).flat();
	const conversations = await each(words, converse);
	const kept = conversations.filter((_, index) => words[index]?.startsWith('keeper'));
	const conversationOf = (id: string) => app.call('GET', `/api/v1/conversations/${id}`);
	const everythingOf = async (id: string) => {
		const parts = ['', '/messages', '/notes'].map((part) => app.call('GET', `/api/v1/conversations/${id}${part}`));
		return (await Promise.all(parts)).map(requireSuccess);
	};
	await until('all is delivered', async () => {
		const { body } = await app.call('GET', '/api/v1/webhooks');
		const path = `/api/v1/webhooks/${body.data[0].id}/deliveries?status=pending&limit=1`;
		return (await app.call('GET', path)).body.data.length === 0;
	});
	requireSuccess(await app.call('GET', '/api/v1/inbox?status=archived&search=canary00000'));
	await until('the question is counted', async () => {
		const { body } = await app.call('GET', '/api/v1/stats/unanswered');
		return JSON.stringify(body).includes('canary');
	});
	const before = await each(kept, everythingOf);
	assert.ok(Object.keys(await filesWith('canary')).length > 0);

	const started = await each(
		words.filter((word) => word.startsWith('canary')),
		(word) => erase(`id-${word}`),
	);
	const receipts = [];
	for (const { id } of started) receipts.push(await completed(id));

	assert.deepEqual(await filesWith('canary'), {});
	assert.deepEqual(await each(kept, everythingOf), before);
	for (const [index, id] of conversations.entries()) {
		assert.equal((await conversationOf(id)).status, words[index]?.startsWith('keeper') ? 200 : 404);
	}
	for (const { counts } of receipts) {
		const { conversations, messages, notes, search_entries, stored_responses, unanswered_questions } = counts;
		assert.deepEqual([conversations, messages, notes, search_entries], [1, 2, 1, 2]);
		assert.deepEqual([stored_responses, unanswered_questions], [3, 1]);
		assert.ok(counts.events >= 6 && counts.deliveries > 0 && counts.delivery_attempts > 0 && counts.inbox_rows > 0);
	}
	const search = requireSuccess(await app.call('GET', '/api/v1/inbox?status=archived&search=keeper00000'));
	assert.equal(search.data.length, 1);
});

test('the receipt is in the audit log under the name of who requested it, without personal data', async () => {
	await converse('receipt');
	const { id } = await erase('id-receipt');
	const done = await completed(id);
	assert.deepEqual(done.backups, { backups_gone_at: null, upgrade_copies_gone_at: null });
	const { data } = requireSuccess(await app.call('GET', `/api/v1/audit-log?resource=${id}`));
	const [completion, request] = data;
	assert.deepEqual([completion.action, request.action], ['completeErasure', 'eraseEndUser']);
	assert.deepEqual(completion.actor, request.actor);
	assert.deepEqual([completion.details.counts, request.details], [done.counts, null]);
	assert.equal(completion.details.completed_at, done.completed_at);
	assert.doesNotMatch(JSON.stringify([data, done]), /id-receipt/);
});

test('the end user may write again afterwards, and the erasure of an unknown one finds nothing', async () => {
	await converse('again');
	await completed((await erase('id-again')).id);
	const next = await converse('again');
	assert.equal((await app.call('GET', `/api/v1/conversations/${next}`)).status, 200);
	const { counts } = await completed((await erase('id-nobody')).id);
	assert.deepEqual([...new Set(Object.values(counts))], [0]);
});

test('two requests at once make one erasure, and another workspace sees none', async () => {
	await converse('twice');
	const both = await Promise.all([erase('id-twice'), erase('id-twice')]);
	assert.equal(both[0].id, both[1].id);
	await completed(both[0].id);
	const store = await openStoreDirectly(app);
	const other = await addWorkspace(store);
	await store[Symbol.asyncDispose]();
	const headers = { authorization: `Bearer ${other.key}` };
	assert.equal((await app.call('GET', `/api/v1/erasures/${both[0].id}`, undefined, headers)).status, 404);
	assert.deepEqual((await app.call('GET', '/api/v1/erasures', undefined, headers)).body.data, []);
	await converse('neighbour');
	const foreign = await app.call('POST', '/api/v1/erasures', { end_user_id: 'id-neighbour' }, headers);
	await until('the erasure of the other workspace is done', async () => {
		const { body } = await app.call('GET', `/api/v1/erasures/${foreign.body.id}`, undefined, headers);
		return body.status === 'done';
	});
	const left = await app.call('GET', '/api/v1/conversations?end_user_id=id-neighbour');
	assert.equal(left.body.data.length, 1);
});

test('the server states when its own backups are gone', async () => {
	const folder = join(app.dataDir, 'kept elsewhere');
	await using backed = await startTestApp({ settings: { backup_dir: folder, backup_every: '6h', backup_keep: 14 } });
	const { body } = await backed.call('POST', '/api/v1/erasures', { end_user_id: 'anyone' });
	let erasure = body;
	await until('the erasure is done', async () => {
		erasure = (await backed.call('GET', `/api/v1/erasures/${body.id}`)).body;
		return erasure.status === 'done';
	});
	const days = (Date.parse(erasure.backups.backups_gone_at) - Date.parse(erasure.completed_at)) / 86_400_000;
	assert.ok(Math.abs(days - 3.5) < 0.01, String(days));
});
