import assert from 'node:assert/strict';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { adoptKey, replacementKey } from '../../src/access/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { openCookieClient, PASSWORD, setPassword, tokenOf } from '../access/people.ts';
import { setUpTotp } from '../access/totp.ts';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';

/** Things of every kind that is encrypted with the secret key. */
async function seal(server: ServerProcess) {
	const made = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
		const { status, body: answer } = await server.call('POST', path, body, headers);
		assert.equal(status, 201, JSON.stringify(answer));
		return answer;
	};
	const webhook = await made('/api/v1/webhooks', { url: 'https://example.com/hook', events: ['message.created'] });
	const config = { url: 'https://example.com/v1', method: 'GET', auth: { type: 'bearer', token: 'the-token' } };
	const tool = await made('/api/v1/tools', { name: 'get_weather', type: 'api', config });
	const assistant = await made('/api/v1/assistants', { name: 'Guide' });
	const deployment = await made('/api/v1/deployments', {
		name: 'Shop',
		assistant_id: assistant.id,
		allowed_domains: ['shop.example'],
		features: { jwt_required: true },
		jwt: { algorithm: 'HS256', secret: 'a secret of more than thirty-two bytes' },
	});
	await made('/api/v1/api-keys', { name: 'Nightly', scopes: ['assistants:read'] }, { 'idempotency-key': 'once' });
	const person = await made('/api/v1/users', { email: 'ada@example.com' });
	await setPassword(server, tokenOf(person.password_link));
	const browser = openCookieClient(server);
	await browser.call('POST', '/api/v1/session', { email: 'ada@example.com', password: PASSWORD });
	await setUpTotp(browser);
	await made('/api/v1/assistants', { name: 'Second' });
	const page = await server.call('GET', '/api/v1/assistants?limit=1');
	return { webhook, tool, deployment, person, cursor: page.body.next_cursor as string };
}

test('where the key is lost and nothing is encrypted, there is nothing to reset, and the server starts', async (t) => {
	const dataDir = await temporaryFolder(t);
	const first = await startServer({ dataDir });
	await first.stop();
	await rm(join(dataDir, 'secret.key'));
	const { code, out, err } = await runProgram(dataDir, ['secrets', 'reset']);
	assert.deepEqual([code, out], [0, ''], err);
	assert.equal(
		err,
		'Nothing is encrypted with the former key: the next start uses a new key. There is nothing to reset.\n',
	);
	await assert.rejects(readFile(join(dataDir, 'secret.key')), { code: 'ENOENT' });
	await using server = await startServer({ dataDir });
	assert.equal((await server.call('GET', '/readyz')).status, 200);
});

test('after a reset of the secrets the server starts and says what to set again', async (t) => {
	const dataDir = await temporaryFolder(t);
	const first = await startServer({ dataDir });
	const { key: apiKey } = first;
	const sealed = await seal(first);
	const intact = await runProgram(dataDir, ['secrets', 'reset', '--yes']);
	assert.equal(intact.code, 1, 'not beside a running server');
	assert.match(intact.err, /^parley: Another Parley is running on .*Stop it/);
	await first.stop();
	const { webhook, tool, deployment, person, cursor } = sealed;

	const nothing = await runProgram(dataDir, ['secrets', 'reset', '--yes']);
	assert.deepEqual([nothing.code, nothing.out], [0, ''], nothing.err);
	assert.match(nothing.err, /There is nothing to reset/);

	await rm(join(dataDir, 'secret.key'));
	const listed = await runProgram(dataDir, ['secrets', 'reset']);
	assert.equal(listed.code, 1);
	assert.match(listed.err, /Nothing was changed/);
	for (const { id } of [webhook, tool, deployment, person]) assert.ok(listed.out.includes(id), listed.out);
	assert.match(listed.out, /^stored answers/m);
	assert.match(listed.out, /^deployment .*refuses all visitors$/m);
	await assert.rejects(readFile(join(dataDir, 'secret.key')), { code: 'ENOENT' });
	const refused = await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' });
	assert.equal(refused.code, 1);
	assert.match(refused.err, /"parley secrets reset"/);

	// A crash after the new key was stored and before the database removed the secrets: a repeat takes the same key.
	const key = await replacementKey(dataDir, undefined);
	const done = await runProgram(dataDir, ['secrets', 'reset', '--yes']);
	assert.equal(done.code, 0, done.err);
	assert.equal(done.out, listed.out, 'what was removed is what was listed');
	assert.equal((await readFile(join(dataDir, 'secret.key'), 'utf8')).trim(), key.toString('base64'));
	assert.equal((await runProgram(dataDir, ['secrets', 'reset'])).code, 0, 'it is finished');

	await using server = await startServer({ dataDir, key: apiKey });
	const shown = (await server.call('GET', `/api/v1/webhooks/${webhook.id}`)).body;
	assert.equal(shown.status, 'disabled');
	assert.match(shown.disabled_reason, /Rotate the secret, then enable it/);
	const early = await server.call('PATCH', `/api/v1/webhooks/${webhook.id}`, { status: 'active' });
	assert.deepEqual([early.status, early.body.error?.code], [400, 'invalid_request']);
	assert.match(early.body.error.message, /secret was removed .* Rotate the secret first\.$/);
	const ping = await server.call('POST', `/api/v1/webhooks/${webhook.id}/test`);
	assert.deepEqual([ping.status, ping.body.delivered], [200, false]);
	assert.match(ping.body.error, /secret was removed .* Rotate the secret\.$/);
	assert.equal((await server.call('POST', `/api/v1/webhooks/${webhook.id}/rotate-secret`, {})).status, 200);
	const enabled = await server.call('PATCH', `/api/v1/webhooks/${webhook.id}`, { status: 'active' });
	assert.deepEqual([enabled.status, enabled.body.status, enabled.body.disabled_reason], [200, 'active', null]);

	const credentials = { email: 'ada@example.com', password: PASSWORD };
	assert.equal((await server.call('POST', '/api/v1/session', credentials)).status, 201, 'without a second factor');

	const tried = await server.call('POST', `/api/v1/tools/${tool.id}/test`, { arguments: {} });
	assert.match(JSON.stringify(tried.body), /secret was removed when the server's secret key was reset/);
	const auth = { type: 'bearer', token: 'another-token' };
	assert.equal((await server.call('PATCH', `/api/v1/tools/${tool.id}`, { config: { auth } })).status, 200);

	const visit = () =>
		server.call(
			'POST',
			'/api/v1/widget/messages',
			{ deployment_id: deployment.id, content: 'Hi' },
			{ origin: 'https://shop.example', authorization: 'Bearer e30.e30.e30' },
		);
	const turned = await visit();
	assert.deepEqual([turned.status, turned.body.error?.code], [401, 'invalid_jwt'], JSON.stringify(turned.body));
	const jwt = { secret: 'another secret of more than thirty-two bytes' };
	assert.equal((await server.call('PATCH', `/api/v1/deployments/${deployment.id}`, { jwt })).status, 200);

	const stale = await server.call('GET', `/api/v1/assistants?limit=1&cursor=${encodeURIComponent(cursor)}`);
	assert.deepEqual([stale.status, stale.body.error.code], [400, 'invalid_cursor']);
	await server.stop();

	// The doctor: all well, open to others, another key, no key at all.
	const about = async () => {
		const { code, out } = await runProgram(dataDir, ['doctor']);
		return `${code} ${out.split('\n').find((line) => line.includes('secret key')) ?? out}`;
	};
	assert.match(await about(), /^0 ok +secret key +It decrypts everything that is encrypted\.$/);
	await chmod(join(dataDir, 'secret.key'), 0o644);
	assert.match(await about(), /^1 FAILED .*mode 644\): run chmod 600 /);
	await writeFile(join(dataDir, 'secret.key'), `${Buffer.alloc(32, 9).toString('base64')}\n`);
	assert.match(await about(), /^1 FAILED .*is not the key with which .*"parley secrets reset"/);
	await writeFile(join(dataDir, 'secret.key'), 'broken\n');
	assert.match(await about(), /^1 FAILED .*does not hold a secret key/);
	await rm(join(dataDir, 'secret.key'));
	assert.match(await about(), /^1 FAILED .*secret\.key is missing\..*"parley secrets reset"/);

	// The right fingerprint is no proof: secrets may have come from elsewhere.
	const own = await replacementKey(dataDir, undefined);
	{
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		await adoptKey(store, dataDir, own, Date.now());
	}
	assert.match(await about(), /^1 FAILED .*The key cannot decrypt the secrets of \w+ and \d+ more\./);
});
