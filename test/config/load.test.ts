import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError, loadConfig, SETTINGS, type Settings, SettingsSchema } from '../../src/config/index.ts';
import { runProgram } from '../support/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-config-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, 'parley.config.json');
const nowhere = join(folder, 'none.json');

/** Settings from a file of this content. */
function fromFile(content: unknown, env: Record<string, string> = {}): Settings {
	writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
	return loadConfig({ env, file });
}

/** The sentence that stops the start. */
function complaint(load: () => unknown): string {
	try {
		load();
	} catch (error) {
		assert.ok(error instanceof ConfigError, String(error));
		assert.match(error.message, /\.$/);
		return error.message;
	}
	return assert.fail('the wrong setting was taken');
}

test('enables the demo by default only on loopback', () => {
	const demo = (env: Record<string, string>) => loadConfig({ env, file: nowhere }).demo;
	const PARLEY_PUBLIC_URL = 'https://chat.example.com';
	assert.deepEqual([demo({}), demo({ PARLEY_DEMO: '0' })], [true, false]);
	for (const [PARLEY_HOST, expected] of [
		['127.0.0.1', true],
		['127.8.0.1', true],
		['::1', true],
		['localhost', true],
		['0.0.0.0', false],
		['::', false],
		['192.168.1.20', false],
		['127.0.0.1.example', false],
	] as const) {
		assert.equal(demo({ PARLEY_HOST }), expected, PARLEY_HOST);
		assert.equal(demo({ PARLEY_HOST, PARLEY_DEMO: '1' }), true, PARLEY_HOST);
	}
	assert.deepEqual([demo({ PARLEY_PUBLIC_URL }), demo({ PARLEY_PUBLIC_URL, PARLEY_DEMO: '1' })], [false, true]);
});

test('a server without settings has the documented defaults', () => {
	assert.deepEqual(loadConfig({ env: {}, file: nowhere }), {
		host: '127.0.0.1',
		port: 8080,
		data_dir: resolve('data/run'),
		log_level: 'info',
		trusted_proxies: [],
		dashboard_networks: [],
		oidc_scopes: 'openid email profile',
		oidc_role_claim: 'roles',
		oidc_roles: [],
		password_sign_in: true,
		demo: true,
		allow_private_network: false,
		refused_networks: [],
		default_model: 'builtin/extractive',
		providers: [],
		currency: 'USD',
		embedder: 'builtin',
		max_upload_bytes: 25 * 1024 * 1024,
		workers: 2,
		thesauri: [],
		backup_every: '6h',
		backup_keep: 14,
		request_log: true,
		request_log_sample: 100,
		request_log_address: 'hashed',
		print_key: false,
	});
});

/** Every setting: the text of its variable, and the same in the file. */
const VALUES: { [K in keyof Required<Settings>]: [text: string, value: unknown] } = {
	host: ['0.0.0.0', '0.0.0.0'],
	port: ['0', 0],
	data_dir: ['/var/lib/parley', '/var/lib/parley'],
	database_url: ['postgres://parley@db.example/parley', 'postgres://parley@db.example/parley'],
	cluster_listen: ['10.0.0.7:9090', '10.0.0.7:9090'],
	cluster_address: ['192.0.2.7:9090', '192.0.2.7:9090'],
	cache_dir: ['/var/cache/parley', '/var/cache/parley'],
	public_url: ['https://chat.example.com', 'https://chat.example.com'],
	tls_cert: ['/etc/parley/cert.pem', '/etc/parley/cert.pem'],
	tls_key: ['/etc/parley/key.pem', '/etc/parley/key.pem'],
	api_key: ['sk_anything', 'sk_anything'],
	secret_key: ['BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=', 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc='],
	log_level: ['warn', 'warn'],
	rate_limit: ['120', 120],
	trusted_proxies: ['10.0.0.1, 10.1.0.0/16,::1 ,fd00::/8', ['10.0.0.1', '10.1.0.0/16', '::1', 'fd00::/8']],
	dashboard_networks: ['192.0.2.7,10.1.0.0/16, 2001:db8::/32', ['192.0.2.7', '10.1.0.0/16', '2001:db8::/32']],
	oidc_issuer: ['https://login.example.com/realms/staff', 'https://login.example.com/realms/staff'],
	oidc_client_id: ['parley', 'parley'],
	oidc_client_secret: ['a secret', 'a secret'],
	oidc_scopes: ['openid groups', 'openid groups'],
	oidc_role_claim: ['realm_access.roles', 'realm_access.roles'],
	oidc_roles: ['parley-admins=admin, a=b=agent', ['parley-admins=admin', 'a=b=agent']],
	oidc_workspace: ['ws_1', 'ws_1'],
	oidc_label: ['Example ID', 'Example ID'],
	password_sign_in: ['1', true],
	demo: ['0', false],
	allow_private_network: ['1', true],
	refused_networks: ['11.1.0.0/16, 2a00:64::/96', ['11.1.0.0/16', '2a00:64::/96']],
	default_model: ['builtin/extractive', 'builtin/extractive'],
	openai_api_key: ['sk-proj-1', 'sk-proj-1'],
	anthropic_api_key: ['sk-ant-1', 'sk-ant-1'],
	// What becomes of a list that is not empty is said further below.
	providers: ['[]', []],
	// Others need their provider.
	currency: ['EUR', 'EUR'],
	embedder: ['builtin', 'builtin'],
	max_upload_bytes: ['1000', 1000],
	workers: ['64', 64],
	ocr: ['eng+deu', 'eng+deu'],
	ocr_dir: ['/opt/ocr', '/opt/ocr'],
	thesauri: ['/opt/a,/opt/b', ['/opt/a', '/opt/b']],
	backup_dir: ['/mnt/backups', '/mnt/backups'],
	backup_every: ['30m', '30m'],
	backup_keep: ['3', 3],
	request_log: ['0', false],
	request_log_sample: ['10', 10],
	request_log_address: ['plain', 'plain'],
	metrics_listen: ['127.0.0.1:9464', '127.0.0.1:9464'],
	print_key: ['1', true],
};

/** Settings that are set together. */
const TOGETHER: readonly (readonly (keyof Settings)[])[] = [
	['tls_cert', 'tls_key'],
	['oidc_issuer', 'oidc_client_id', 'oidc_roles'],
	['database_url', 'secret_key', 'cluster_listen', 'cluster_address'],
];

test('every setting can be set in the environment and in the file, with the same effect', () => {
	const fields = Object.keys(SETTINGS) as Array<keyof Settings>;
	assert.deepEqual(Object.keys(VALUES).toSorted(), fields.toSorted());
	for (const field of fields) {
		const [text, value] = VALUES[field];
		const together = TOGETHER.find((fields) => fields.includes(field)) ?? [];
		const env = Object.fromEntries(together.map((each) => [SETTINGS[each].variable, VALUES[each][0]]));
		const inFile = Object.fromEntries(together.map((each) => [each, VALUES[each][1]]));
		const fromVariable = loadConfig({ env: { ...env, [SETTINGS[field].variable]: text }, file: nowhere });
		assert.deepEqual(fromVariable[field], value, field);
		assert.deepEqual(fromFile({ ...inFile, [field]: value })[field], value, field);
	}
});

test('a certificate without its key is an error, and so is a key without its certificate', () => {
	assert.match(
		complaint(() => loadConfig({ env: { PARLEY_TLS_CERT: 'cert.pem' }, file: nowhere })),
		/^PARLEY_TLS_CERT is set without PARLEY_TLS_KEY\. Meaning of PARLEY_TLS_KEY: File with the private key /,
	);
	assert.match(
		complaint(() => fromFile({ tls_key: 'key.pem' })),
		/^PARLEY_TLS_KEY is set without PARLEY_TLS_CERT\. /,
	);
});

test('a public address without TLS beside a certificate is an error', () => {
	const env = { PARLEY_TLS_CERT: 'cert.pem', PARLEY_TLS_KEY: 'key.pem' };
	assert.match(
		complaint(() => loadConfig({ env: { ...env, PARLEY_PUBLIC_URL: 'http://chat.example.com' }, file: nowhere })),
		/^PARLEY_PUBLIC_URL begins with http:, but the server speaks only HTTPS with PARLEY_TLS_CERT\. /,
	);
	const PARLEY_PUBLIC_URL = 'https://chat.example.com';
	assert.equal(loadConfig({ env: { ...env, PARLEY_PUBLIC_URL }, file: nowhere }).public_url, PARLEY_PUBLIC_URL);
});

test('a sentence about a wrong value names the bound, the entry of a list, and the meaning of the setting', () => {
	const sentence = (env: Record<string, string>) => complaint(() => loadConfig({ env, file: nowhere }));
	assert.match(
		sentence({ PARLEY_BACKUP_KEEP: '0' }),
		/^PARLEY_BACKUP_KEEP must be at least 1\. Meaning: Backups that stay in that folder; /,
	);
	assert.match(sentence({ PARLEY_WORKERS: '65' }), /^PARLEY_WORKERS must be at most 64\. Meaning: /);
	assert.match(
		sentence({ PARLEY_DASHBOARD_NETWORKS: '10.0.0.0/8,office' }),
		/^PARLEY_DASHBOARD_NETWORKS \(entry 2\) is not valid\. Meaning: Addresses or CIDR ranges, /,
	);
	assert.match(
		complaint(() => fromFile({ host: '' })),
		/^host in .* must not be empty\. Meaning: Address to listen on\.$/,
	);
	for (const code of ['ABC', 'euro', 'eur', 'EURO']) {
		assert.match(sentence({ PARLEY_CURRENCY: code }), /^PARLEY_CURRENCY is not valid\. Meaning: .* ISO 4217/);
	}
});

test('an issuer needs its client, roles and the public address; passwords are switched off only beside one', () => {
	const issuer = {
		PARLEY_OIDC_ISSUER: 'https://login.example.com',
		PARLEY_OIDC_CLIENT_ID: 'parley',
		PARLEY_OIDC_ROLES: 'staff=member',
	};
	const outside = { ...issuer, PARLEY_HOST: '0.0.0.0' };
	for (const [env, expected] of [
		[{ ...issuer, PARLEY_OIDC_CLIENT_ID: '' }, /^PARLEY_OIDC_ISSUER is set without PARLEY_OIDC_CLIENT_ID\. /],
		[{ ...issuer, PARLEY_OIDC_ROLES: '' }, /^PARLEY_OIDC_ISSUER is set without PARLEY_OIDC_ROLES\. /],
		[outside, /^PARLEY_OIDC_ISSUER is set without PARLEY_PUBLIC_URL\. /],
		[{ ...issuer, PARLEY_OIDC_ISSUER: 'http://login.example.com' }, /^PARLEY_OIDC_ISSUER is not valid\. /],
		[{ ...issuer, PARLEY_OIDC_ISSUER: 'https://a:b@login.example.com' }, /^PARLEY_OIDC_ISSUER is not valid\. /],
		[{ ...issuer, PARLEY_OIDC_ROLES: 'staff=boss' }, /^PARLEY_OIDC_ROLES \(entry 1\) is not valid\. /],
		[{ ...issuer, PARLEY_OIDC_SCOPES: 'email' }, /^PARLEY_OIDC_SCOPES is not valid\. /],
		[{ PARLEY_PASSWORD_SIGN_IN: '0' }, /^PARLEY_PASSWORD_SIGN_IN is 0 without PARLEY_OIDC_ISSUER/],
	] as const) {
		assert.match(
			complaint(() => loadConfig({ env, file: nowhere })),
			expected,
		);
	}
	const PARLEY_PUBLIC_URL = 'https://chat.example.com';
	assert.equal(loadConfig({ env: { ...outside, PARLEY_PUBLIC_URL }, file: nowhere }).oidc_client_id, 'parley');
	const loopback = { ...issuer, PARLEY_OIDC_ISSUER: 'http://[::1]:9000', PARLEY_PASSWORD_SIGN_IN: '0' };
	assert.equal(loadConfig({ env: loopback, file: nowhere }).password_sign_in, false);
});

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

test('docs/configuration.md lists every setting with its default', () => {
	const rows = [...page('configuration.md').matchAll(/^\| `(PARLEY_\w+)` \|(.*?)\| .+ \|$/gm)];
	assert.deepEqual(
		rows.map(([, variable]) => variable),
		Object.values(SETTINGS).map(({ variable }) => variable),
	);
	const defaults = loadConfig({ env: {}, file: nowhere });
	const env = Object.fromEntries(
		rows.flatMap(([, variable, cell = '']) => {
			const value = /^ `([^`]*)` $/.exec(cell)?.[1];
			// The folder of the one file depends on the user, and is not read here.
			return value === undefined || variable === 'PARLEY_CACHE_DIR' ? [] : [[variable, value]];
		}),
	);
	assert.deepEqual(loadConfig({ env, file: nowhere }), defaults);
});

test('docs/models.md lists every field of a provider, and its example is valid', () => {
	const models = page('models.md');
	const table = models.slice(models.indexOf('| of a provider |'));
	const fields = [...table.slice(0, table.indexOf('\n\n')).matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
	assert.deepEqual(fields, Object.keys(SettingsSchema.properties.providers.items.properties));
	const example = /```json\n(\{[\s\S]*?"providers"[\s\S]*?)```/.exec(models)?.[1] ?? '';
	const { providers, default_model } = fromFile(example, { GROQ_API_KEY: 'gsk_1' });
	assert.deepEqual([providers.map(({ id }) => id), default_model], [['ollama', 'groq'], 'ollama/llama3.1']);
});

test('example.env has every setting, and its values are the defaults', () => {
	const text = readFileSync(new URL('../../example.env', import.meta.url), 'utf8');
	const lines = [...text.matchAll(/^# (PARLEY_\w+)=(.*)$/gm)];
	assert.deepEqual(
		lines.map(([, variable]) => variable),
		Object.values(SETTINGS).map(({ variable }) => variable),
	);
	const env = Object.fromEntries(lines.map(([, variable, value]) => [variable, value]));
	assert.deepEqual(loadConfig({ env, file: nowhere }), loadConfig({ env: {}, file: nowhere }));
});

test('the environment wins over the file, setting by setting', () => {
	const settings = fromFile({ port: 9000, host: '::1', workers: 3 }, { PARLEY_PORT: '7000' });
	assert.deepEqual([settings.port, settings.host, settings.workers], [7000, '::1', 3]);
});

test('an empty variable counts as not set', () => {
	const settings = fromFile({ port: 9000 }, { PARLEY_PORT: '', PARLEY_HOST: ' ', PARLEY_API_KEY: '' });
	assert.deepEqual([settings.port, settings.host, settings.api_key], [9000, '127.0.0.1', undefined]);
});

test('ignores white space around a value', () => {
	const env = { PARLEY_PORT: ' 7000\n', PARLEY_LOG_LEVEL: 'warn ', PARLEY_ALLOW_PRIVATE_NETWORK: ' 1' };
	const settings = loadConfig({ env, file: nowhere });
	assert.deepEqual([settings.port, settings.log_level, settings.allow_private_network], [7000, 'warn', true]);
});

test('a switch reads 0, 1, true and false', () => {
	for (const [text, value] of Object.entries({ 0: false, 1: true, false: false, true: true })) {
		const env = { PARLEY_ALLOW_PRIVATE_NETWORK: text };
		assert.equal(loadConfig({ env, file: nowhere }).allow_private_network, value);
	}
});

test('the public address is kept as browsers write an origin', () => {
	for (const text of ['https://Chat.Example.com', 'https://chat.example.com/', 'https://chat.example.com:443']) {
		assert.equal(
			loadConfig({ env: { PARLEY_PUBLIC_URL: text }, file: nowhere }).public_url,
			'https://chat.example.com',
		);
	}
});

test('accepts the secret key in base64 or in hexadecimal', () => {
	const base64 = Buffer.alloc(32, 0xa7).toString('base64');
	for (const text of [base64, base64.replace('=', ''), 'a7'.repeat(32), 'A7'.repeat(32)]) {
		assert.equal(loadConfig({ env: { PARLEY_SECRET_KEY: text }, file: nowhere }).secret_key, base64);
	}
});

test('every wrong variable stops the start with a sentence that names it', () => {
	const wrong: Record<string, string[]> = {
		PARLEY_PORT: ['abc', '-1', '65536', '80.5', '8080x', '0x50', '1e3', 'true', 'null', 'NaN', 'Infinity'],
		PARLEY_PUBLIC_URL: [
			'chat.example.com',
			'ftp://chat.example.com',
			'https://',
			'https://chat.example.com/parley',
			'https://chat.example.com/?a',
			'https://chat.example.com/#a',
			'https://ann:secret@chat.example.com',
			'https://chat example.com',
			'javascript:alert(1)',
		],
		PARLEY_SECRET_KEY: [
			'secret',
			'a7'.repeat(31),
			'g7'.repeat(32),
			'a7'.repeat(33),
			`${'A'.repeat(42)}B=`,
			'A'.repeat(42),
		],
		PARLEY_LOG_LEVEL: ['loud', 'INFO', '30'],
		PARLEY_RATE_LIMIT: ['-1', '1.5', 'none', 'false'],
		PARLEY_TRUSTED_PROXIES: [
			'proxy.example.com',
			'10.0.0.0/33',
			'10.0.0.1,,10.0.0.2',
			'10.0.0.1;10.0.0.2',
			'::1/129',
			'/8',
			'10.0.0.1/',
			'10.0.0.1/+8',
			'*',
		],
		PARLEY_REFUSED_NETWORKS: ['intranet.example.com', '11.0.0.0/33', '11.0.0.0/8,', '11.0.0.0-11.0.0.9'],
		PARLEY_ALLOW_PRIVATE_NETWORK: ['yes', '2', 'on', 'TRUE'],
		PARLEY_OPENAI_API_KEY: ['two words', 'schlüssel'],
		PARLEY_ANTHROPIC_API_KEY: ['two words'],
		PARLEY_PROVIDERS: ['ollama', '{}', '[1]', '[{}]', '{"id": "a"}', '[', 'null'],
		PARLEY_MAX_UPLOAD_BYTES: ['0', '25MB', '1073741825'],
		PARLEY_WORKERS: ['0', '65', 'two'],
	};
	for (const [variable, texts] of Object.entries(wrong)) {
		for (const text of texts) {
			const sentence = complaint(() => loadConfig({ env: { [variable]: text }, file: nowhere }));
			assert.ok(sentence.startsWith(`${variable} `), `${variable}=${text}: ${sentence}`);
		}
	}
});

test('every wrong value in the file stops the start with a sentence that names the field and the file', () => {
	const wrong: Record<string, unknown[]> = {
		host: ['', 1, null, true],
		port: ['8080', 80.5, null, true, -1, [8080]],
		data_dir: ['', null],
		cache_dir: ['', null],
		public_url: ['nowhere', null],
		api_key: [1, null],
		secret_key: ['', 7, null],
		log_level: ['loud', null],
		rate_limit: ['60', null, false, -1],
		trusted_proxies: ['10.0.0.1', [''], ['nowhere'], [1], null],
		dashboard_networks: ['10.0.0.1', ['10.0.0.0/33'], ['nowhere'], null],
		allow_private_network: ['true', 1, 0, null],
		refused_networks: ['11.0.0.1', ['nowhere'], [1], null],
		default_model: ['', null],
		openai_api_key: ['', 'two words', 1, null],
		anthropic_api_key: ['', null],
		providers: [null, {}, 'ollama', [null], ['ollama'], [{}]],
		max_upload_bytes: [0, '1', null],
		workers: [0, 65, null],
	};
	for (const [field, values] of Object.entries(wrong)) {
		for (const value of values) {
			const sentence = complaint(() => fromFile({ [field]: value }));
			assert.ok(sentence.startsWith(`${field} in ${file} `), `${field}: ${JSON.stringify(value)}: ${sentence}`);
		}
	}
});

test('a sentence about a wrong value says what is permitted and does not repeat the value, which may be a secret', () => {
	const sentence = complaint(() => loadConfig({ env: { PARLEY_LOG_LEVEL: 'sk_oops' }, file: nowhere }));
	assert.match(sentence, /trace, debug, info, warn, error, fatal or silent/);
	assert.doesNotMatch(sentence, /sk_oops/);
});

test('refuses unknown settings in the environment and in the file', () => {
	const sentence = complaint(() => loadConfig({ env: { PARLEY_PROT: '8080' }, file: nowhere }));
	assert.match(sentence, /^PARLEY_PROT is not a setting/);
	assert.match(sentence, /PARLEY_PORT/);
	assert.match(
		complaint(() => fromFile({ prot: 8080 })),
		/^prot in .* is not a setting/,
	);
	assert.match(
		complaint(() => fromFile('{"__proto__": {"port": 1}}')),
		/^__proto__ in .* is not a setting/,
	);
	assert.match(
		complaint(() => fromFile({ PARLEY_PORT: 8080 })),
		/^PARLEY_PORT in .* is not a setting/,
	);
});

test('ignores variables of other programs and of the scripts around the server', () => {
	const env = { PATH: '/usr/bin', PARLEYX: '1', parley_port: 'x', PARLEY_CHROMIUM: '/usr/bin/chromium' };
	assert.equal(loadConfig({ env, file: nowhere }).port, 8080);
});

test('a file that is not one JSON object, or cannot be read, stops the start with a sentence that names it', () => {
	for (const content of ['', '{', '[]', 'null', '"port"', '1', '{"port": 1,}', '{"a": 1} {}']) {
		assert.ok(complaint(() => fromFile(content)).startsWith(`${file} `), content);
	}
	assert.ok(complaint(() => loadConfig({ env: {}, file: folder })).startsWith(`${folder} `));
});

test('loading settings does not change the environment, and two loads share nothing', () => {
	const env = Object.freeze({ PARLEY_TRUSTED_PROXIES: '10.0.0.1' });
	loadConfig({ env, file: nowhere }).trusted_proxies.push('10.0.0.2');
	assert.deepEqual(loadConfig({ env, file: nowhere }).trusted_proxies, ['10.0.0.1']);
	loadConfig({ env: {}, file: nowhere }).trusted_proxies.push('10.0.0.2');
	assert.deepEqual(loadConfig({ env: {}, file: nowhere }).trusted_proxies, []);
});

test('a server with a wrong setting does not start: one sentence, exit code 2', async () => {
	const { code, out, err } = await runProgram(join(folder, 'data'), ['serve'], { PARLEY_PORT: 'abc' });
	assert.equal(code, 2, err);
	assert.equal(out, '');
	assert.match(err, /^parley: PARLEY_PORT [^\n]+\.\n$/);
});

test('PostgreSQL needs a secret key, and its nodes an address that others reach', () => {
	const url = { PARLEY_DATABASE_URL: 'postgres://parley@db.example/parley' };
	const key = { PARLEY_SECRET_KEY: VALUES.secret_key[0] };
	const load = (env: Record<string, string>) => loadConfig({ env, file: '/nowhere' });
	assert.throws(() => load(url), /PARLEY_DATABASE_URL is set without PARLEY_SECRET_KEY/);
	assert.throws(() => load({ PARLEY_DATABASE_URL: 'mysql://db.example/parley' }), /PARLEY_DATABASE_URL/);
	assert.throws(() => load({ ...url, ...key, PARLEY_BACKUP_DIR: '/mnt/backups' }), /pg_dump/);
	assert.throws(
		() => load({ ...url, ...key, PARLEY_CLUSTER_LISTEN: '0.0.0.0:9090' }),
		/PARLEY_CLUSTER_LISTEN is set without PARLEY_CLUSTER_ADDRESS/,
	);
	assert.throws(() => load({ PARLEY_CLUSTER_LISTEN: '10.0.0.7:9090' }), /is set without PARLEY_DATABASE_URL/);
	assert.equal(load({ ...url, ...key }).database_url, url.PARLEY_DATABASE_URL);
	const socket = { PARLEY_DATABASE_URL: 'postgres://parley@/parley?host=%2Frun%2Fpostgresql' };
	assert.equal(load({ ...socket, ...key }).database_url, socket.PARLEY_DATABASE_URL);
	assert.throws(() => load({ PARLEY_DATABASE_URL: 'postgres://db.example', ...key }), /PARLEY_DATABASE_URL/);
	const withOptions = { PARLEY_DATABASE_URL: `${url.PARLEY_DATABASE_URL}?options=-c%20jit%3Don` };
	assert.throws(() => load({ ...withOptions, ...key }), /PARLEY_DATABASE_URL/);
});
