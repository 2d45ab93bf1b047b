import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { signWithSecret } from '../access/signers.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { addWorkspace, openStoreDirectly } from './direct-store.ts';
import { requireSuccess, startErasableVisitors } from './erasable-visitors.ts';
import { createApiFixture } from './fixture.ts';

/** End users who are erased. */
const USERS = process.env.CANARIES === 'full' ? 1_000 : 25;
/** Among so many of them one is kept. */
const USERS_PER_KEPT = 5;
const CONCURRENCY = 50;
const SECRET = 'a secret of the shop, long enough';

const visitors = await startErasableVisitors();
after(() => visitors[Symbol.asyncDispose]());
const { app, converse, beRefused, warnings } = visitors;

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

/** The lines of the export of an end user. */
async function exported(endUser: string, { url, key }: Pick<TestApp, 'url' | 'key'> = app) {
	const headers = { authorization: `Bearer ${key}` };
	const response = await fetch(`${url}/api/v1/end-users/export?end_user_id=${endUser}`, { headers });
	assert.equal(response.headers.get('content-type'), 'application/jsonl');
	const text = await response.text();
	return text
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));
}

test('an export has everything that is stored about an end user, and nothing of others', async () => {
	await converse('exported');
	await converse('neighbour-of-it');
	await until('the questions are counted and the budgets are reported', async () => {
		const types = (await exported('id-exported')).map(({ type }) => type);
		return types.includes('unanswered_question') && warnings.length >= 2;
	});
	await untilDelivered();
	const lines = await exported('id-exported');
	assert.ok(!JSON.stringify(lines).includes('neighbour-of-it'));
	const ofType = (wanted: string) => lines.filter(({ type }) => type === wanted).map(({ resource }) => resource);
	const count = (type: string) => ofType(type).length;
	assert.deepEqual(lines[0].resource.end_user_id, 'id-exported');
	assert.deepEqual(lines.at(-1), { type: 'end', resource: { lines: lines.length } });
	assert.deepEqual([count('conversation'), count('message'), count('note')], [1, 7, 1]);
	assert.deepEqual([count('stored_response'), count('unanswered_question'), count('cost')], [4, 1, 1]);
	const [shown] = ofType('conversation');
	assert.deepEqual([shown.contact_email, shown.title], ['exported@contact.example', 'Longer title about exported']);
	for (const { conversation_id } of [...ofType('message'), ...ofType('note')]) assert.equal(conversation_id, shown.id);
	const [, reply, , , , failed, byPerson] = ofType('message');
	assert.match(reply.feedback_comment, /exported/);
	assert.deepEqual([reply.tool_calls.length, failed.status, byPerson.author.type], [2, 'failed', 'human']);
	assert.match(JSON.stringify(reply.tool_calls[1].arguments), /exported in round 1/);
	assert.match(JSON.stringify(reply.tool_calls[1].result), /exported in round 1/);
	// That of a message has only the ids of question and reply, which a repeat reads again.
	const bodies = ofType('stored_response').map(({ body }) => body?.includes('exported') ?? null);
	assert.deepEqual(bodies.toSorted(), [null, null, true, true]);
	const [warning] = ofType('event').filter(({ type }) => type === 'budget.warning');
	assert.equal(warning.data.visitor_id, ofType('cost')[0].visitor_id);
	const attempts = ofType('delivery').flatMap(({ attempt_log }) => attempt_log);
	assert.ok(attempts.some(({ answer }) => answer?.includes('exported')));
	const { counts } = await completed((await erase('id-exported')).id);
	assert.deepEqual([count('event'), count('delivery')], [counts.events, counts.deliveries]);
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
	const [, event, cost, ...rest] = await exported('payer', priced);
	assert.deepEqual([event.type, event.resource.type, rest.length], ['event', 'budget.warning', 1]);
	const { visitor_id } = event.resource.data;
	const { day, ...sum } = cost.resource;
	assert.match(`${cost.type} ${day}`, /^cost ....-..-..T00:00:00.000Z$/);
	assert.deepEqual(sum, { deployment_id, visitor_id, cost_micros: 500, reserved_micros: 0 });
	const { id } = requireSuccess(await priced.call('POST', '/api/v1/erasures', { end_user_id: 'payer' }));
	const { counts } = await completed(id, priced);
	assert.deepEqual([counts.conversations, counts.events, counts.cost_rows], [0, 1, 2]);
	assert.equal((await exported('payer', priced)).length, 2);
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

async function untilDelivered() {
	const { body } = await app.call('GET', '/api/v1/webhooks');
	const path = `/api/v1/webhooks/${body.data[0].id}/deliveries?status=pending&limit=1`;
	await until('all is delivered', async () => (await app.call('GET', path)).body.data.length === 0);
}

test('of erased end users no file has anything, and the data of others is untouched', async () => {
	const number = (index: number) => String(index).padStart(5, '0');
	const words = Array.from({ length: USERS }, (_, index) => {
		const keeper = index % USERS_PER_KEPT === 0 ? [`keeper${number(index)}`] : [];
		return [`canary${number(index)}`, ...keeper];
	}).flat();
	const reportedBefore = warnings.length;
	const conversations = await each(words, converse);
	const kept = conversations.filter((_, index) => words[index]?.startsWith('keeper'));
	const conversationOf = (id: string) => app.call('GET', `/api/v1/conversations/${id}`);
	const everythingOf = async (id: string) => {
		const parts = ['', '/messages', '/notes'].map((part) => app.call('GET', `/api/v1/conversations/${id}${part}`));
		return (await Promise.all(parts)).map(requireSuccess);
	};
	await until('the budgets are reported', () => warnings.length - reportedBefore >= words.length);
	await untilDelivered();
	requireSuccess(await app.call('GET', '/api/v1/inbox?status=archived&search=canary00000'));
	await until('the question is counted', async () => {
		const { body } = await app.call('GET', '/api/v1/stats/unanswered');
		return JSON.stringify(body).includes('canary');
	});
	const before = await each(kept, everythingOf);
	// The files have a visitor's costs under the visitor's account.
	const accountOf = async (word: string): Promise<string> =>
		(await exported(`id-${word}`)).find(({ type }) => type === 'cost').resource.visitor_id;
	const [canary, keeper] = [await accountOf('canary00000'), await accountOf('keeper00000')];
	for (const text of ['canary', canary]) assert.ok(Object.keys(await filesWith(text)).length > 0);

	const started = await each(
		words.filter((word) => word.startsWith('canary')),
		(word) => erase(`id-${word}`),
	);
	const receipts = [];
	for (const { id } of started) receipts.push(await completed(id));

	for (const text of ['canary', canary]) assert.deepEqual(await filesWith(text), {});
	assert.ok(Object.keys(await filesWith(keeper)).length > 0);
	assert.deepEqual(await each(kept, everythingOf), before);
	for (const [index, id] of conversations.entries()) {
		assert.equal((await conversationOf(id)).status, words[index]?.startsWith('keeper') ? 200 : 404);
	}
	for (const { counts } of receipts) {
		const { conversations, messages, notes, search_entries } = counts;
		const { stored_responses, unanswered_questions, reply_rounds, cost_rows } = counts;
		assert.deepEqual([conversations, messages, notes, search_entries], [1, 7, 1, 6]);
		assert.deepEqual([stored_responses, unanswered_questions, reply_rounds, cost_rows], [5, 1, 4, 2]);
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

test('a request that was refused is erased although it left no conversation', async () => {
	await beRefused('stranger');
	const { counts } = await completed((await erase('id-stranger')).id);
	assert.deepEqual([counts.conversations, counts.stored_responses], [0, 1]);
	assert.deepEqual(await filesWith('stranger'), {});
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
