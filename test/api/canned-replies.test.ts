import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const PATH = '/api/v1/canned-replies';

test('creates, lists, changes and deletes canned replies', async () => {
	const made = await app.call('POST', PATH, { shortcut: 'hours', content: 'Ten to six.' });
	assert.deepEqual([made.status, made.body.shortcut, made.body.content], [201, 'hours', 'Ten to six.']);
	const path = `${PATH}/${made.body.id}`;
	const changed = await app.call(
		'PATCH',
		path,
		{ content: 'Nine to six.' },
		{ 'if-match': made.headers.get('etag') ?? '' },
	);
	assert.deepEqual([changed.status, changed.body.shortcut, changed.body.content], [200, 'hours', 'Nine to six.']);
	const stale = await app.call('PATCH', path, { content: 'Hm.' }, { 'if-match': made.headers.get('etag') ?? '' });
	assert.equal(stale.status, 412);
	assert.deepEqual((await app.call('GET', path)).body, changed.body);
	assert.deepEqual((await app.call('GET', PATH)).body.data, [changed.body]);
	assert.deepEqual((await app.call('DELETE', path)).body, { id: made.body.id, deleted: true });
	assert.equal((await app.call('GET', path)).status, 404);
	assert.deepEqual((await app.call('GET', PATH)).body.data, []);
});

test('a shortcut is one word, and unique whatever its case', async () => {
	for (const shortcut of ['', 'two words', '/slash', 'x'.repeat(41)]) {
		assert.equal((await app.call('POST', PATH, { shortcut, content: 'Hm.' })).status, 400, shortcut);
	}
	const { body } = await app.call('POST', PATH, { shortcut: 'Grüße', content: 'Viele Grüße!' });
	const taken = await app.call('POST', PATH, { shortcut: 'grüße', content: 'Hm.' });
	assert.deepEqual([taken.status, taken.body.error.details[0].path], [400, '/shortcut']);
	const other = await app.call('POST', PATH, { shortcut: 'bye', content: 'Bye!' });
	assert.equal((await app.call('PATCH', `${PATH}/${other.body.id}`, { shortcut: 'GRÜßE' })).status, 400);
	assert.equal((await app.call('PATCH', `${PATH}/${body.id}`, { shortcut: 'grüße' })).status, 200, 'its own');
	const made = await Promise.all([1, 2, 3].map((n) => app.call('POST', PATH, { shortcut: 'once', content: `${n}` })));
	assert.deepEqual(made.map(({ status }) => status).sort(), [201, 400, 400], 'of three at once');
});
