import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import test, { after } from 'node:test';
import { pino } from 'pino';
import { newSigner, signWithSecret } from '../access/signers.ts';
import { startTestApp } from '../support/app.ts';
import { createApiFixture } from './fixture.ts';

let logged = '';
const write = (line: string, _encoding: unknown, done: () => void) => {
	logged += line;
	done();
};
const app = await startTestApp({ overrides: { log: pino({ level: 'trace' }, new Writable({ write })) } });
after(() => app[Symbol.asyncDispose]());

const SECRET = 'a secret of the shop, long enough';
const deploy = async (deployment: Record<string, unknown>) => (await createApiFixture(app, { deployment })).deployment;
const check = (deployment: string, what: 'origin' | 'token', body: object, headers?: Record<string, string>) =>
	app.call('POST', `/api/v1/deployments/${deployment}/check-${what}`, body, headers);

test('checks a page against the stored allowlist, or against a list that is not stored', async () => {
	const deployment = await deploy({ allowed_domains: ['shop.example'] });
	const url = 'https://www.shop.example/kettles';
	const stored = await check(deployment, 'origin', { url });
	assert.equal(stored.status, 200);
	assert.deepEqual(stored.body, {
		allowed: false,
		origin: 'https://www.shop.example',
		entry: null,
		reason: 'no_entry_matches',
		near_misses: [{ entry: 'shop.example', reason: 'subdomain' }],
	});
	const edited = await check(deployment, 'origin', { url, allowed_domains: ['*.shop.example'] });
	assert.deepEqual([edited.body.allowed, edited.body.entry], [true, '*.shop.example']);
	const wrong = await check(deployment, 'origin', { url, allowed_domains: ['shop.example', 'no domain'] });
	assert.deepEqual([wrong.status, wrong.body.error.details[0].path], [400, '/allowed_domains/1']);
	const { body } = await app.call('GET', `/api/v1/deployments/${deployment}`);
	assert.deepEqual(body.allowed_domains, ['shop.example']);
});

test("verifies a token by the deployment's settings, and names the visitor or the problem", async () => {
	const deployment = await deploy({ jwt: { algorithm: 'HS256', secret: SECRET, audience: 'shop', issuer: null } });
	const exp = Math.floor(Date.now() / 1000) + 600;
	const claims = { sub: 'ada', name: 'Ada', exp, aud: 'shop' };
	const verify = async (token: string) => {
		const { status, body } = await check(deployment, 'token', { token });
		assert.equal(status, 200);
		return body;
	};
	assert.deepEqual(await verify(signWithSecret(SECRET, claims)), {
		valid: true,
		problem: null,
		end_user: { id: 'ada', name: 'Ada', email: null },
		expires_at: new Date((exp + 30) * 1000).toISOString(),
	});
	for (const [token, problem] of [
		[signWithSecret('another secret of the shop, long enough', claims), 'The signature of the JWT is not valid.'],
		[signWithSecret(SECRET, { ...claims, exp: exp - 3_600 }), 'The JWT has expired.'],
		[signWithSecret(SECRET, { ...claims, aud: 'blog' }), 'The JWT is meant for another audience (aud).'],
		[await newSigner('RS256').sign(claims), 'The JWT is not signed with HS256.'],
		['no token', 'This is not a well-formed, signed JWT.'],
		['a'.repeat(8_193), 'The JWT is longer than 8192 bytes.'],
	] as const) {
		assert.deepEqual(await verify(token), { valid: false, problem, end_user: null, expires_at: null });
	}
});

test('says that there is no key where none is set, and that a key set cannot be fetched', async () => {
	const token = signWithSecret(SECRET, { sub: 'ada', exp: 1 });
	const { body: keyless } = await check(await deploy({}), 'token', { token });
	assert.deepEqual([keyless.valid, keyless.problem], [false, 'The deployment has no key to verify a JWT with.']);
	const jwt = { algorithm: 'RS256', jwks_url: 'https://keys.shop.example/keys.json' };
	const signed = await newSigner('RS256').sign({ sub: 'ada', exp: 1 });
	const { body: unreachable } = await check(await deploy({ jwt }), 'token', { token: signed });
	assert.deepEqual(unreachable.problem, 'The keys that visitors are verified with cannot be fetched right now.');
});

test('stores and logs nothing of a checked token', async () => {
	const deployment = await deploy({ jwt: { algorithm: 'HS256', secret: SECRET } });
	const token = signWithSecret(SECRET, { sub: 'a-visitor-who-is-not-logged', exp: Date.now() / 1000 + 60 });
	const { body } = await check(deployment, 'token', { token }, { 'idempotency-key': 'check-once' });
	assert.equal(body.valid, true);
	const again = await check(deployment, 'token', { token }, { 'idempotency-key': 'check-once' });
	assert.equal(again.headers.get('idempotent-replayed'), null);
	assert.ok(logged.includes('/check-token'));
	for (const part of [...token.split('.'), 'a-visitor-who-is-not-logged']) assert.ok(!logged.includes(part), part);
});

test('checks nothing for a key without the scope, or of a deployment that does not exist', async () => {
	const deployment = await deploy({ allowed_domains: ['shop.example'] });
	const body = { name: 'Chat only', scopes: ['messages:write'] };
	const { body: key } = await app.call('POST', '/api/v1/api-keys', body);
	for (const [what, input] of [
		['origin', { url: 'https://shop.example' }],
		['token', { token: 'a.b.c' }],
	] as const) {
		const refused = await check(deployment, what, input, { authorization: `Bearer ${key.key}` });
		assert.deepEqual([refused.status, refused.body.error.code], [403, 'insufficient_scope']);
		assert.equal((await check('dep_unknown', what, input)).status, 404);
	}
});
