import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { OWNER, openCookieClient, PASSWORD } from '../access/people.ts';
import { startOwnedApp } from '../browser/dashboard.ts';
import { createApiFixture, createResource } from './fixture.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());
const owner = openCookieClient(app);
assert.equal((await owner.call('POST', '/api/v1/session', { email: OWNER, password: PASSWORD })).status, 201);
const { deployment, assistant } = await createApiFixture(app, {
	texts: ['The warranty of every kettle lasts three years from the day of purchase.'],
});

/** Sends a message and returns the reply. */
async function ask(content: string, body: object = {}) {
	const sent = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, ...body });
	assert.equal(sent.status, 201, JSON.stringify(sent.body));
	return sent.body;
}

/** The ids of the conversations of a list. */
async function listed(query: string, call = app.call): Promise<string[]> {
	const { status, body } = await call('GET', `/api/v1/inbox?${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	return body.data.map(({ conversation }: { conversation: { id: string } }) => conversation.id);
}

test('lists conversations by their last activity, with the last message', async () => {
	const first = (await ask('Do kettles whistle?')).conversation_id;
	const second = (await ask('Do you ship to Norway?')).conversation_id;
	assert.deepEqual((await listed('limit=2')).slice(0, 2), [second, first]);
	const reply = await ask('And the lids?', { conversation_id: first });
	const { body } = await app.call('GET', '/api/v1/inbox?limit=2');
	assert.deepEqual(
		body.data.map(({ conversation }: { conversation: { id: string } }) => conversation.id),
		[first, second],
	);
	const [entry] = body.data;
	assert.equal(entry.last_message.id, reply.id);
	assert.equal(entry.last_message.text, reply.content.slice(0, 300));
	assert.equal(entry.unread_count, 4);
	const { next_cursor } = (await app.call('GET', '/api/v1/inbox?limit=1')).body;
	assert.deepEqual(await listed(`limit=1&cursor=${next_cursor}`), [second]);
	assert.equal((await app.call('GET', `/api/v1/inbox?limit=1&waiting=true&cursor=${next_cursor}`)).status, 400);
});

test('each reader has an own unread state, and a later message is unread again', async () => {
	const { conversation_id: id } = await ask('What does a filter cost?');
	const entryFor = async (call: typeof app.call) =>
		(await call('GET', `/api/v1/conversations/${id}/inbox`)).body as { unread_count: number };
	const read = await owner.call('POST', `/api/v1/conversations/${id}/read`, {});
	assert.deepEqual(read.body, { conversation_id: id, last_read: 2, unread_count: 0 });
	assert.equal((await entryFor(owner.call)).unread_count, 0);
	assert.equal((await entryFor(app.call)).unread_count, 2, 'the API key has not read it');
	assert.ok(!(await listed('unread=true', owner.call)).includes(id));
	await ask('And a lid?', { conversation_id: id });
	assert.equal((await entryFor(owner.call)).unread_count, 2);
	assert.ok((await listed('unread=true', owner.call)).includes(id));
	await owner.call('POST', `/api/v1/conversations/${id}/read`, { last_read: 3 });
	assert.equal((await entryFor(owner.call)).unread_count, 1);
	await owner.call('POST', '/api/v1/inbox/read');
	assert.deepEqual(await listed('unread=true', owner.call), []);
	assert.equal((await owner.call('GET', '/api/v1/inbox/counts')).body.unread, 0);
	assert.ok((await app.call('GET', '/api/v1/inbox/counts')).body.unread > 0);
});

test('filters by assignee, by who waits for a person, by rating, by answer, by deployment and by state', async () => {
	const answered = await ask('How long does the warranty last?');
	const id: string = answered.conversation_id;
	assert.ok(answered.citations.length > 0);
	assert.ok(!(await listed('unanswered=true')).includes(id));
	const unanswered = (await ask('Wie hoch ist der Eiffelturm?')).conversation_id;
	assert.ok((await listed('unanswered=true')).includes(unanswered));

	const { data: people } = (await owner.call('GET', '/api/v1/inbox/assignees')).body;
	const me = people[0].id;
	const assigned = await owner.call('PATCH', `/api/v1/conversations/${id}`, { assignee_id: me });
	assert.equal(assigned.body.assignee_id, me);
	assert.deepEqual(await listed('assignee=me', owner.call), [id]);
	assert.deepEqual(await listed(`assignee=${me}`), [id]);
	assert.ok(!(await listed('assignee=none')).includes(id));
	assert.equal((await app.call('GET', '/api/v1/inbox?assignee=me')).status, 400);
	const stranger = await app.call('PATCH', `/api/v1/conversations/${id}`, { assignee_id: 'user_unknown' });
	assert.deepEqual([stranger.status, stranger.body.error.code], [404, 'not_found']);

	assert.deepEqual(await listed('rated_down=true'), []);
	await app.call('POST', `/api/v1/messages/${answered.id}/feedback`, { rating: 'down' });
	assert.deepEqual(await listed('rated_down=true'), [id]);
	await app.call('POST', `/api/v1/messages/${answered.id}/feedback`, { rating: null });
	assert.deepEqual(await listed('rated_down=true'), []);

	await app.call('POST', `/api/v1/conversations/${id}/takeover`);
	assert.deepEqual(await listed('waiting=true'), []);
	await app.call('POST', '/api/v1/messages', { deployment_id: deployment, conversation_id: id, content: 'Hello?' });
	assert.deepEqual(await listed('waiting=true'), [id]);
	const { waiting_since } = (await app.call('GET', `/api/v1/conversations/${id}/inbox`)).body;
	assert.ok(Date.parse(waiting_since) <= Date.now());
	await app.call('POST', `/api/v1/conversations/${id}/messages`, { content: 'Kim here.' });
	assert.deepEqual(await listed('waiting=true'), []);

	const other = await createResource(app, '/api/v1/deployments', { assistant_id: assistant });
	const elsewhere = (await ask('Hello from elsewhere', { deployment_id: other })).conversation_id;
	assert.deepEqual(await listed(`deployment_id=${other}`), [elsewhere]);
	await app.call('PATCH', `/api/v1/conversations/${elsewhere}`, { status: 'archived' });
	assert.deepEqual(await listed(`deployment_id=${other}`), []);
	assert.deepEqual(await listed('status=archived'), [elsewhere]);
});

test('finds words, phrases and beginnings of words in messages, each conversation once', async () => {
	const { conversation_id: id } = await ask('Is the Zürich showroom open on Sundays?');
	await ask('And is the Zurich café open?', { conversation_id: id });
	assert.deepEqual(await listed('search=zurich'), [id]);
	assert.deepEqual(await listed('search=zur'), [id], 'the last word may be a beginning');
	assert.deepEqual(await listed('search=show%20zurich'), [], 'other words may not');
	assert.deepEqual(await listed('search=%22zurich%20showroom%22'), [id]);
	assert.deepEqual(await listed('search=%22showroom%20zurich%22'), []);
	assert.deepEqual(await listed('search=zurich%20OR%20%22)'), [], 'operators are words');
	assert.deepEqual(await listed('search=zurich%00%20sundays'), [id], 'a NUL separates words');
	assert.deepEqual(await listed('search=%00zurich%00'), [id]);
	assert.deepEqual(await listed('search=%3F%3F'), []);
	const { body } = await app.call('GET', '/api/v1/inbox?search=cafe');
	assert.match(body.data[0].match.excerpt, /Zurich café/);
	const paged: string[] = [];
	let cursor = '';
	do {
		const page = (await app.call('GET', `/api/v1/inbox?search=open&limit=1${cursor}`)).body;
		paged.push(...page.data.map(({ conversation }: { conversation: { id: string } }) => conversation.id));
		cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
	} while (cursor !== '');
	assert.equal(new Set(paged).size, paged.length, 'no conversation is on two pages');
	await app.call('DELETE', `/api/v1/conversations/${id}?purge=true`);
	assert.deepEqual(await listed('search=zurich'), []);
});

test('finds words in scripts that write none apart, and Korean words with endings', async () => {
	const found: Array<[message: string, searches: string[], misses: string[]]> = [
		['我想查询订单的发货时间', ['订单', '发货时间', '单的发'], ['货发']],
		['返品の期限はいつまでですか', ['返品', '期限', 'の期'], ['限期']],
		['สั่งซื้อสินค้าเมื่อวาน', ['สินค้า'], ['ค้าสิน']],
		['어제 주문을 취소했어요', ['주문', '취소'], ['문주']],
	];
	for (const [message, searches, misses] of found) {
		const { conversation_id } = await ask(message);
		for (const text of searches) {
			const { data } = (await app.call('GET', `/api/v1/inbox?search=${encodeURIComponent(text)}`)).body;
			assert.deepEqual(
				data.map(({ conversation }: { conversation: { id: string } }) => conversation.id),
				[conversation_id],
			);
			assert.ok(data[0].match.excerpt.includes(text), text);
		}
		for (const text of misses) assert.deepEqual(await listed(`search=${encodeURIComponent(text)}`), [], text);
		await app.call('DELETE', `/api/v1/conversations/${conversation_id}?purge=true`);
		assert.deepEqual(await listed(`search=${encodeURIComponent(searches[0] as string)}`), []);
	}
});

test('exports a conversation as JSON and as Markdown', async () => {
	const reply = await ask('How long does the *warranty* last?');
	const id: string = reply.conversation_id;
	const path = `/api/v1/conversations/${id}/export`;
	const json = await app.call('GET', path);
	assert.equal(json.headers.get('content-disposition'), `attachment; filename="${id}.json"`);
	assert.equal(json.headers.get('x-content-type-options'), 'nosniff');
	assert.equal(json.body.conversation.id, id);
	assert.deepEqual(
		json.body.messages.map(({ content }: { content: string }) => content),
		['How long does the *warranty* last?', reply.content],
	);
	const authorization = `Bearer ${app.key}`;
	const markdown = await fetch(`${app.url}${path}?format=markdown`, { headers: { authorization } });
	assert.match(markdown.headers.get('content-type') ?? '', /^text\/markdown/);
	const text = await markdown.text();
	assert.match(text, /^# How long does the \\\*warranty\\\* last\?/);
	assert.match(text, /\n## Assistant, 20/);
	assert.match(text, /\n- \[1\] /);
	assert.equal((await app.call('GET', '/api/v1/conversations/conv_unknown/export')).status, 404);
});

test('a visitor’s text cannot look like the message of a person in an export', async () => {
	const { conversation_id } = await ask('Hello\n\n## Anna, 2026-11-26T12:00:00.000Z\n\nYou get a refund.');
	const markdown = await fetch(`${app.url}/api/v1/conversations/${conversation_id}/export?format=markdown`, {
		headers: { authorization: `Bearer ${app.key}` },
	});
	const text = await markdown.text();
	assert.match(text, /\n> Hello\n>\n> ## Anna, 2026/);
	assert.doesNotMatch(text, /^## Anna/m);
});
