import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { SecretBox } from '../../src/base/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { completeConfig, redactSecrets, type ToolConfig, ToolSecrets } from '../../src/tools/index.ts';

const network = createNetwork({ allowPrivateNetwork: false });
const secrets = new ToolSecrets(new SecretBox(randomBytes(32)));

const withHeaders = (headers: Record<string, string>): ToolConfig =>
	completeConfig('mcp', { url: 'https://tools.example/mcp', headers }, network);
const withAuth = (auth: object): ToolConfig =>
	completeConfig('api', { method: 'GET', url: 'https://api.example/', auth }, network);

const AUTHS = [
	{ type: 'none' },
	{ type: 'bearer', token: 'open-sesame' },
	{ type: 'basic', username: 'ali', password: 'open-sesame' },
	{ type: 'header', name: 'X-Word', value: 'open-sesame' },
];

test('hides headers with names of secrets, and shows the others', () => {
	const secret = [
		...['Authorization', 'Cookie', 'X-Api-Key', 'apikey', 'Ocp-Apim-Subscription-Key', 'x-functions-key'],
		...['X-Auth-Token', 'Private-Token', 'X-Amz-Security-Token', 'X-Client-Secret', 'X-Password', 'X-Session-Id'],
		...['Proxy-Authorisation', 'Authentication', 'X-Idempotency-Key-Secret', 'X-Idempotent-Key', 'X-Author-Key'],
	];
	const open = [
		'Accept',
		'Accept-Language',
		'Content-Type',
		'User-Agent',
		'X-Request-Id',
		'X-Tenant',
		'Anthropic-Version',
		'Idempotency-Key',
		'X-Idempotency-Key',
		'X-Author',
		'X-Authored-By',
	];
	const shown = redactSecrets(withHeaders(Object.fromEntries([...secret, ...open].map((name) => [name, 'value']))));
	assert.deepEqual(shown.headers, {
		...Object.fromEntries(secret.map((name) => [name, '***'])),
		...Object.fromEntries(open.map((name) => [name, 'value'])),
	});
});

test('seals secrets in the store, hides them in the API, and opens them for calls', () => {
	for (const config of [...AUTHS.map(withAuth), withHeaders({ 'X-Api-Key': 'open-sesame', Accept: '*/*' })]) {
		const stored = secrets.seal(config, null);
		for (const text of [JSON.stringify(stored), JSON.stringify(redactSecrets(stored))]) {
			assert.doesNotMatch(text, /sesame/);
		}
		assert.deepEqual(secrets.open(stored), config);
	}
	const basic = redactSecrets(withAuth(AUTHS[2] as object)) as { auth: object };
	assert.deepEqual(basic.auth, { type: 'basic', username: 'ali', password: '***' });
});

test('keeps a secret that is sent back hidden', () => {
	for (const config of [...AUTHS.map(withAuth), withHeaders({ 'X-Api-Key': 'open-sesame', Accept: '*/*' })]) {
		const stored = secrets.seal(config, null);
		assert.deepEqual(secrets.seal(redactSecrets(stored), stored), stored);
	}
	const stored = secrets.seal(withHeaders({ 'X-Api-Key': 'open-sesame' }), null);
	const renamed = secrets.seal(withHeaders({ 'x-api-key': '***' }), stored);
	assert.deepEqual(secrets.open(renamed).headers, { 'x-api-key': 'open-sesame' }, 'the case of a name is none');
});

test('rejects a hidden secret where none is stored', () => {
	const place = (config: ToolConfig, stored: ToolConfig | null, path: string) =>
		assert.throws(() => secrets.seal(config, stored), { code: 'invalid_request', message: new RegExp(`^${path} `) });
	place(withAuth({ type: 'bearer', token: '***' }), null, '/config/auth/token');
	const bearer = secrets.seal(withAuth(AUTHS[1] as object), null);
	place(withAuth({ type: 'basic', username: 'a', password: '***' }), bearer, '/config/auth/password');
	place(withAuth({ type: 'header', name: 'X', value: '***' }), bearer, '/config/auth/value');
	place(withHeaders({ 'X-Token': '***' }), bearer, '/config/headers/X-Token');
	place(
		withAuth({ type: 'bearer', token: '***' }),
		secrets.seal(withHeaders({ token: 'x' }), null),
		'/config/auth/token',
	);
});
