import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { completeConfig, mergeConfig, type ToolConfig } from '../../src/tools/index.ts';

const network = createNetwork({ allowPrivateNetwork: false });
const CITY_URL = 'https://api.example/v1/cities/{city}';
const parameters = { type: 'object', properties: { city: { type: 'string' }, day: { type: 'string' } } };

const api = (given: object) => completeConfig('api', { method: 'GET', url: CITY_URL, parameters, ...given }, network);
const mcp = (given: object) => completeConfig('mcp', { url: 'https://tools.example/mcp', ...given }, network);

/** The code and the places that a refusal names; null where there is none. */
function refusal(attempt: () => unknown): [code: string, ...places: string[]] | null {
	try {
		attempt();
		return null;
	} catch (thrown) {
		if (!(thrown instanceof AppError)) throw thrown;
		assert.match(thrown.message, /^\S.*\.$/s);
		return [thrown.code, ...(thrown.details ?? []).map(({ path }) => path)];
	}
}

test('completes a configuration with defaults', () => {
	assert.deepEqual(completeConfig('api', { method: 'DELETE', url: 'https://api.example/' }, network), {
		method: 'DELETE',
		url: 'https://api.example/',
		headers: {},
		query: {},
		body: null,
		parameters: { type: 'object', properties: {} },
		timeout_ms: 10_000,
		auth: { type: 'none' },
	});
	assert.deepEqual(mcp({}), {
		url: 'https://tools.example/mcp',
		headers: {},
		allowed_tools: null,
		timeout_ms: 10_000,
	});
});

test('accepts a configuration that was read before', () => {
	const whole = api({ query: { day: '{day}', n: 5, raw: true }, headers: { Accept: 'text/plain' }, timeout_ms: 1 });
	assert.deepEqual(completeConfig('api', { ...whole }, network), whole);
	const server = mcp({ allowed_tools: ['search'], timeout_ms: 30_000 });
	assert.deepEqual(completeConfig('mcp', { ...server }, network), server);
});

test('accepts placeholders in the path and the query of a URL only', () => {
	for (const url of [
		CITY_URL,
		'https://api.example/{city}/{day}.json?on={day}&for={city}',
		'https://api.example?city={city}',
		'HTTPS://API.example:8443/{city}',
	]) {
		assert.equal((api({ url }) as { url: string }).url, url);
	}
	for (const url of [
		'{city}://api.example/',
		'https://{city}/',
		'https://{city}.example/',
		'https://api.{city}:443/',
		'https://api.example:{city}/',
		'https://{city}@api.example/',
		'https://user:{city}@api.example/',
		'https:{city}/x',
		'https:/{city}/x',
		'https:///{city}/x',
		'https:\\\\{city}\\x',
		'https:\\/{city}/',
		'{city}',
		'/{city}',
	]) {
		assert.deepEqual(
			refusal(() => api({ url })),
			['invalid_request', '/config/url'],
			url,
		);
	}
});

test('a placeholder is a parameter, and a brace that belongs to none is a mistake', () => {
	for (const url of [
		'https://api.example/{town}',
		'https://api.example/{}',
		'https://api.example/{toString}',
		'https://api.example/{__proto__}',
		'https://api.example/{city',
		'https://api.example/city}',
		'https://api.example/{{city}}',
	]) {
		assert.deepEqual(
			refusal(() => api({ url })),
			['invalid_request', '/config/url'],
			url,
		);
	}
	assert.deepEqual(
		refusal(() => api({ query: { on: 'before {date}' } })),
		['invalid_request', '/config/query/on'],
	);
	assert.deepEqual(
		refusal(() => mcp({ url: 'https://tools.example/{city}' })),
		['invalid_request', '/config/url'],
	);
});

test('a URL to a forbidden address is refused with the guard’s own code', () => {
	for (const url of [
		'http://api.example/{city}',
		'https://127.0.0.1/{city}',
		'https://u:p@api.example/',
		'ftp://x/',
		'/x',
	]) {
		assert.deepEqual(
			refusal(() => api({ url })),
			['url_not_allowed', '/config/url'],
			url,
		);
	}
	assert.deepEqual(
		refusal(() => mcp({ url: 'https://[::1]/mcp' })),
		['url_not_allowed', '/config/url'],
	);
	const intranet = createNetwork({ allowPrivateNetwork: true });
	completeConfig('api', { method: 'GET', url: 'http://10.0.0.5/{city}', parameters }, intranet);
});

test('accepts valid headers only, and none of the connection', () => {
	const at = (name: string) => `/config/headers/${name}`;
	const wrong: Array<[headers: Record<string, unknown>, place: string]> = [
		[{ 'Bad Name': 'x' }, at('Bad Name')],
		[{ '': 'x' }, at('')],
		[{ 'a/b~c': 'x' }, at('a~1b~0c')],
		[{ 'X-Line\n': 'x' }, at('X-Line\n')],
		[{ 'X-A': 'one\r\nX-B: two' }, at('X-A')],
		[{ 'X-A': 'sun ☀' }, at('X-A')],
		[{ 'X-A': ' x' }, at('X-A')],
		[{ 'X-A': 7 }, at('X-A')],
		[{ Host: 'other.example' }, at('Host')],
		[{ 'content-length': '5' }, at('content-length')],
		[{ 'Transfer-Encoding': 'chunked' }, at('Transfer-Encoding')],
		[{ Connection: 'close' }, at('Connection')],
		[{ 'X-A': 'x', 'x-a': 'y' }, at('x-a')],
	];
	for (const [headers, place] of wrong) {
		assert.deepEqual(
			refusal(() => api({ headers })),
			['invalid_request', place],
			JSON.stringify(headers),
		);
		assert.deepEqual(
			refusal(() => mcp({ headers })),
			['invalid_request', place],
			JSON.stringify(headers),
		);
	}
	api({ headers: { 'X-Empty': '', 'X-Latin': 'caf\u00e9', 'Content-Type': 'application/json', Cookie: 'a=b; c=d' } });
});

test('how calls say who they come from is checked per type', () => {
	const wrong: Array<[auth: unknown, place: string]> = [
		[{}, '/type'],
		[{ type: 'digest' }, '/type'],
		[{ type: 'bearer' }, '/token'],
		[{ type: 'bearer', token: '' }, '/token'],
		[{ type: 'bearer', token: 'two words' }, '/token'],
		[{ type: 'bearer', token: 'a\r\nX: y' }, '/token'],
		[{ type: 'bearer', token: 'a', name: 'b' }, '/name'],
		[{ type: 'basic', username: 'a' }, '/password'],
		[{ type: 'basic', username: 'a:b', password: 'c' }, '/username'],
		[{ type: 'basic', username: 'a', password: 'b\0' }, '/password'],
		[{ type: 'header', name: 'X Key', value: 'a' }, '/name'],
		[{ type: 'header', name: 'Host', value: 'a' }, '/name'],
		[{ type: 'header', name: 'X-Key', value: 'a\n' }, '/value'],
		[{ type: 'none', token: 'a' }, '/token'],
		['none', ''],
	];
	for (const [auth, place] of wrong) {
		const expected = ['invalid_request', `/config/auth${place}`];
		assert.deepEqual(
			refusal(() => api({ auth })),
			expected,
			JSON.stringify(auth),
		);
	}
	api({ auth: { type: 'basic', username: 'sk_live', password: '' } });
	// Two settings for one header would be ambiguous.
	assert.deepEqual(
		refusal(() => api({ auth: { type: 'bearer', token: 'a' }, headers: { authorization: 'b' } })),
		['invalid_request', '/config/headers/authorization'],
	);
	assert.deepEqual(
		refusal(() => api({ auth: { type: 'header', name: 'X-Key', value: 'a' }, headers: { 'x-key': 'b' } })),
		['invalid_request', '/config/headers/x-key'],
	);
});

test('the rest of a configuration is bounded too', () => {
	const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
	const post = (body: unknown) => api({ method: 'POST', body });
	const wrong: Array<[attempt: () => unknown, place: string]> = [
		[() => api({ method: 'HEAD' }), '/config/method'],
		[() => api({ timeout_ms: 0 }), '/config/timeout_ms'],
		[() => api({ timeout_ms: 30_001 }), '/config/timeout_ms'],
		[() => api({ body: {} }), '/config/body'],
		[() => api({ retries: 3 }), '/config/retries'],
		[() => api({ query: { list: [1] } }), '/config/query/list'],
		[() => post(nested(33)), '/config/body'],
		[() => post('x'.repeat(32_767)), '/config/body'],
		[() => api({ parameters: { ...parameters, x: nested(32) } }), '/config/parameters'],
		[() => api({ parameters: { ...parameters, x: 'x'.repeat(32_700) } }), '/config/parameters'],
		[() => mcp({ allowed_tools: ['a', 'a'] }), '/config/allowed_tools'],
		[() => mcp({ auth: { type: 'none' } }), '/config/auth'],
		[() => completeConfig('mcp', {}, network), '/config/url'],
	];
	for (const [attempt, place] of wrong) assert.deepEqual(refusal(attempt), ['invalid_request', place], String(attempt));
	post(nested(32));
	post('x'.repeat(32_766));
	let bottomless: unknown = 1;
	for (let level = 0; level < 200_000; level++) bottomless = [bottomless];
	assert.deepEqual(
		refusal(() => post(bottomless)),
		['invalid_request', '/config/body'],
	);
	assert.deepEqual(
		refusal(() => mergeConfig(mcp({}), { headers: bottomless })),
		['invalid_request', '/config/headers'],
	);
});

test('a patch merges the fields that it names, null removes a field, and another kind of auth replaces the whole auth', () => {
	const config = api({
		headers: { 'X-A': '1', 'X-B': '2' },
		auth: { type: 'header', name: 'X-Key', value: 'secret' },
	}) as ToolConfig;
	assert.deepEqual(mergeConfig(config, { headers: { 'X-A': null, 'X-C': '3' }, timeout_ms: 5 }), {
		...config,
		headers: { 'X-B': '2', 'X-C': '3' },
		timeout_ms: 5,
	});
	const authAfter = (auth: unknown) => mergeConfig(config, { auth }).auth;
	assert.deepEqual(authAfter({ name: 'X-Other' }), { type: 'header', name: 'X-Other', value: 'secret' });
	assert.deepEqual(authAfter({ type: 'header', value: 'new' }), { type: 'header', name: 'X-Key', value: 'new' });
	assert.deepEqual(authAfter({ type: 'bearer', token: 'new' }), { type: 'bearer', token: 'new' });
	assert.equal(authAfter(null), undefined);
	assert.equal(authAfter('x'), 'x');
});

test('parameters that stay as they are stored are not judged again', () => {
	// These are refused now. An earlier version may have stored them.
	const loop = { type: 'object', properties: { city: { $ref: '#' } } };
	const stored = { ...api({}), parameters: loop } as ToolConfig;
	const changed = (patch: object) => completeConfig('api', mergeConfig(stored, { ...patch }), network, stored);
	assert.deepEqual(changed({ timeout_ms: 5 }), { ...stored, timeout_ms: 5 });
	assert.deepEqual(changed({ timeout_ms: 5, parameters: structuredClone(loop) }), { ...stored, timeout_ms: 5 });
	assert.deepEqual(
		refusal(() => changed({ parameters: { title: 'x' } })),
		['invalid_request', '/config/parameters'],
	);
	assert.deepEqual(
		refusal(() => changed({ url: 'https://api.example/{town}' })),
		['invalid_request', '/config/url'],
		'what hangs on them is',
	);
});

test('a secret is sent as it is, so that it takes no placeholder of a parameter', () => {
	const wrong: Array<[given: object, place: string]> = [
		[{ headers: { 'X-Session-Id': '{city}' } }, '/config/headers/X-Session-Id'],
		[{ headers: { 'X-Api-Key': 'one {day} two' } }, '/config/headers/X-Api-Key'],
		[{ auth: { type: 'bearer', token: '{city}' } }, '/config/auth/token'],
		[{ auth: { type: 'header', name: 'X-Who', value: 'for {city}' } }, '/config/auth/value'],
		[{ auth: { type: 'basic', username: '{city}', password: 'x' } }, '/config/auth/username'],
		[{ auth: { type: 'basic', username: 'x', password: '{city}' } }, '/config/auth/password'],
	];
	for (const [given, place] of wrong) {
		assert.deepEqual(
			refusal(() => api(given)),
			['invalid_request', place],
			JSON.stringify(given),
		);
	}
	api({ headers: { 'X-Api-Key': '{other}{}', 'Idempotency-Key': '{city}', 'X-Author': '{day}' } });
	api({ auth: { type: 'bearer', token: '{other}' } });
	mcp({ headers: { 'X-Api-Key': '{city}' } });
});
