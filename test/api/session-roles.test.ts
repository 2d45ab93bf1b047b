import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Operation, operations } from '../../src/contract/index.ts';
import { addUser, type CookieClient, startAppWithUsers } from '../access/people.ts';

const people = await startAppWithUsers();
const { app, signIn, owner } = people;
after(() => people[Symbol.asyncDispose]());

const keyed = Object.entries<Operation>(operations).filter(([, { access }]) => access.kind === 'key');

/** Calls an operation on resources that do not exist, so that it has no effect. */
async function outcome(browser: CookieClient, { method, path, body, multipart }: Operation) {
	const nowhere = path.replaceAll(/\{\w+\}/g, 'none');
	return browser.call(method, nowhere, body || multipart ? { no_such_field: true } : undefined);
}

test('a member may call every operation but settings, an owner every operation', async () => {
	await addUser(app, 'member@example.com', 'member');
	const member = await signIn('member@example.com');
	let settings = 0;
	assert.ok(keyed.length > 40);
	for (const [id, operation] of keyed) {
		const scope = operation.access.kind === 'key' ? operation.access.scope : null;
		const closed = scope?.startsWith('settings:') === true;
		if (closed) settings++;
		const { status, body } = await outcome(member, operation);
		if (closed) assert.deepEqual([status, body?.error?.code], [403, 'forbidden'], id);
		else assert.ok(status !== 401 && status !== 403, `${id}: ${status} ${JSON.stringify(body)}`);
		const owners = await outcome(owner, operation);
		assert.ok(owners.status !== 401 && owners.status !== 403, `${id}: ${owners.status} ${JSON.stringify(owners.body)}`);
	}
	assert.ok(settings >= 12, 'keys, users and the workspace are settings');
});

test('rejects each of the operations without a credential', async () => {
	const nobody: CookieClient = { cookie: null, call: (method, path, body) => app.callAsVisitor(method, path, body) };
	for (const [id, operation] of keyed) {
		const { status, body } = await outcome(nobody, operation);
		assert.deepEqual([status, body.error.code], [401, 'unauthorized'], id);
	}
});
