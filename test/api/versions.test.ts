import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { createApiFixture, createResource, untilTrained } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());
const fixture = await createApiFixture(app, { texts: ['Kettles boil.'] });
// Its end changes the ETag of the knowledge base.
await untilTrained(app, fixture.knowledgeBase);
const [document] = (await app.call('GET', `/api/v1/knowledge-bases/${fixture.knowledgeBase}/documents`)).body.data;
const sent = await app.call('POST', '/api/v1/messages', {
	deployment_id: fixture.deployment,
	content: 'Do kettles boil?',
});

/** A resource of each kind, with a valid change of it. */
const RESOURCES: Array<{ path: string; patch?: object }> = [
	{ path: `/api/v1/assistants/${fixture.assistant}`, patch: { description: 'Changed.' } },
	{ path: `/api/v1/knowledge-bases/${fixture.knowledgeBase}`, patch: { description: 'Changed.' } },
	{ path: `/api/v1/deployments/${fixture.deployment}`, patch: { name: 'Changed' } },
	{ path: `/api/v1/conversations/${sent.body.conversation_id}`, patch: { title: 'Changed' } },
	{ path: `/api/v1/knowledge-bases/${fixture.knowledgeBase}/documents/${document.id}` },
];

for (const { path, patch } of RESOURCES) {
	const kind = path.split('/').at(-2);

	test(`${kind}: responds 304 to the current ETag, in any form of the header`, async () => {
		const { headers } = await app.call('GET', path);
		const etag = headers.get('etag') ?? '';
		assert.match(etag, /^"\d+"$/);
		assert.equal(headers.get('cache-control'), 'private, no-cache');
		for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
			const { status, body, headers: answered } = await app.call('GET', path, undefined, { 'if-none-match': known });
			assert.deepEqual([status, body, answered.get('etag')], [304, undefined, etag], known);
		}
		for (const known of ['"other"', '"0"', 'nonsense']) {
			assert.equal((await app.call('GET', path, undefined, { 'if-none-match': known })).status, 200, known);
		}
	});

	if (!patch) continue;

	test(`${kind}: a change returns its new ETag, and a change with an old If-Match is rejected`, async () => {
		const old = (await app.call('GET', path)).headers.get('etag') ?? '';
		const changed = await app.call('PATCH', path, patch, { 'if-match': old });
		assert.equal(changed.status, 200);
		const etag = changed.headers.get('etag') ?? '';
		assert.notEqual(etag, old);
		assert.equal((await app.call('GET', path)).headers.get('etag'), etag);
		for (const condition of [old, `W/${etag}`, '"not-ours"', `${old}, "1x"`]) {
			const { status, body } = await app.call('PATCH', path, patch, { 'if-match': condition });
			assert.deepEqual([status, body.error.code], [412, 'precondition_failed'], condition);
			assert.equal((await app.call('DELETE', path, undefined, { 'if-match': condition })).status, 412, condition);
		}
		assert.equal((await app.call('GET', path)).headers.get('etag'), etag, 'nothing was changed');
		for (const condition of ['*', `${old}, ${etag}`]) {
			const { status } = await app.call('PATCH', path, patch, { 'if-match': condition });
			assert.equal(status, condition === '*' ? 200 : 412, condition);
		}
		assert.equal((await app.call('PATCH', path, patch, { 'if-match': 'unquoted' })).status, 400);
	});
}

test('makes one of concurrent changes with the same If-Match', async () => {
	const id = await createResource(app, '/api/v1/assistants', { name: 'Guide' });
	const path = `/api/v1/assistants/${id}`;
	const headers = { 'if-match': (await app.call('GET', path)).headers.get('etag') ?? '' };
	const ends = await Promise.all(
		Array.from({ length: 10 }, (_, index) => app.call('PATCH', path, { name: `Guide ${index}` }, headers)),
	);
	assert.equal(ends.filter(({ status }) => status === 200).length, 1);
	assert.equal(ends.filter(({ status }) => status === 412).length, 9);
});

test('removes a document only in the version that the client knows', async () => {
	const path = `/api/v1/knowledge-bases/${fixture.knowledgeBase}/documents/${document.id}`;
	const { headers } = await app.call('GET', path);
	assert.equal((await app.call('DELETE', path, undefined, { 'if-match': '"0"' })).status, 412);
	const etag = headers.get('etag') ?? '';
	assert.deepEqual((await app.call('DELETE', path, undefined, { 'if-match': etag })).body, {
		id: document.id,
		deleted: true,
	});
	assert.equal((await app.call('DELETE', path, undefined, { 'if-match': etag })).status, 404);
});
