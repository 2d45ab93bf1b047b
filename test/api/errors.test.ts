import assert from 'node:assert/strict';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import test, { after } from 'node:test';
import { ERROR_CODES, type ErrorCode } from '../../src/base/index.ts';
import { IGNORES_UNKNOWN_QUERY } from '../conformance/resources.ts';
import { startConformanceServer } from '../conformance/server.ts';
import { Tenant } from '../conformance/tenant.ts';
import type { DescribedOperation } from '../support/openapi.ts';
import { until } from '../support/until.ts';

const server = await startConformanceServer();
const tenant = new Tenant(server);
const { operations } = server.api;
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
after(async () => {
	agent.destroy();
	await server[Symbol.asyncDispose]();
});

const MEBIBYTE = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

interface Raw {
	status: number;
	headers: IncomingHttpHeaders;
	text: string;
}

/** A request with exactly this path, which no client normalises. */
function ask(
	method: string,
	path: string,
	{
		headers = {},
		body,
		chunked = false,
	}: { headers?: Record<string, string>; body?: string | Buffer; chunked?: boolean } = {},
): Promise<Raw> {
	const { hostname, port } = new URL(server.app.url);
	return new Promise((resolve, reject) => {
		const request = httpRequest({ hostname, port, method, path, agent, headers, timeout: 30_000 }, (response) => {
			const pieces: Buffer[] = [];
			response.on('data', (bytes) => pieces.push(bytes));
			response.on('error', reject);
			response.on('end', () =>
				resolve({
					status: response.statusCode ?? 0,
					headers: response.headers,
					text: Buffer.concat(pieces).toString(),
				}),
			);
			// An event stream that was opened by mistake would never end.
			if (response.headers['content-type']?.startsWith('text/event-stream')) request.destroy();
		});
		request.on('error', reject);
		request.on('timeout', () => request.destroy(new Error(`${method} ${path} was not answered`)));
		if (body !== undefined && !chunked) request.setHeader('content-length', Buffer.byteLength(body));
		if (body !== undefined && chunked) request.setHeader('transfer-encoding', 'chunked');
		request.end(body);
	});
}

/** Asserts that the error envelope has exactly the published fields. */
function assertRefused({ status, headers, text }: Raw, code: ErrorCode, what: string) {
	assert.equal(headers['content-type'], 'application/json; charset=utf-8', `${what}: ${text}`);
	const body = JSON.parse(text);
	assert.deepEqual([status, body.error?.code], [ERROR_CODES[code][0], code], `${what}: ${text}`);
	assert.deepEqual(Object.keys(body), ['error'], what);
	const { message, request_id, details, code: _code, ...rest } = body.error;
	assert.deepEqual(rest, {}, what);
	assert.match(message, /^\S.*\.$/s, `${what}: the message is a sentence`);
	assert.match(request_id, /^req_[0-9a-z]{32}$/, what);
	assert.equal(request_id, headers['x-request-id'], what);
	assert.equal(headers['cache-control'], 'no-store', what);
	return details as Array<{ path: string }> | undefined;
}

/** The paths in an error's details. */
const placesOf = (details: Array<{ path: string }> | undefined) => details?.map(({ path }) => path);

/** A path of an operation with a value for every placeholder. */
const filled = ({ path }: { path: string }, id: string) => path.replaceAll(/\{\w+\}/g, id);

/** Headers and query of a request whose body is read. */
async function admitted(operation: DescribedOperation): Promise<{ path: string; headers: Record<string, string> }> {
	const ids = await tenant.pathTo(operation.path);
	const path = operation.path.replaceAll(/\{(\w+)\}/g, (_braces, name) => ids[name] as string);
	const query = new URLSearchParams(await tenant.query(operation)).toString();
	return { path: query === '' ? path : `${path}?${query}`, headers: await tenant.headersFor(operation) };
}

test('responds 404 in the error envelope to every unknown path', async () => {
	const paths = [...new Set(operations.map(({ path }) => path))];
	const nowhere = [
		'/api',
		'/api/',
		'/api/v1',
		'/api/v1/',
		'/api/v1/nonesuch',
		'/api/v2/assistants',
		'//',
		'/api/v1//assistants',
	];
	for (const path of [...nowhere, ...paths.map((path) => `${filled({ path }, 'x')}/-/-/-/-`)]) {
		for (const method of ['GET', 'POST', 'DELETE', 'PROPFIND']) {
			assertRefused(await ask(method, path), 'not_found', `${method} ${path}`);
		}
	}
	for (const path of paths) {
		const slash = `${filled({ path }, 'x')}/`;
		assertRefused(await ask('GET', slash), 'not_found', slash);
	}
});

test('responds 405 to a wrong method and lists the methods in Allow', async () => {
	const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
	for (const path of new Set(operations.map((operation) => operation.path))) {
		const here = operations.filter((operation) => operation.path === path);
		const taken = here.map(({ method }) => method);
		if (taken.includes('GET')) taken.push('HEAD');
		// Pages of other origins send a preflight first.
		if (here.some(({ parameters }) => parameters.some(({ name }) => name === 'Origin'))) taken.push('OPTIONS');
		for (const method of methods) {
			if (taken.includes(method)) continue;
			const answer = await ask(method, filled({ path }, 'x'));
			assert.equal(answer.status, 405, `${method} ${path}`);
			assert.deepEqual(answer.headers.allow?.split(', ').toSorted(), taken.toSorted(), `${method} ${path}`);
			if (method === 'HEAD') assert.equal(answer.text, '');
			else assertRefused(answer, 'method_not_allowed', `${method} ${path}`);
		}
	}
});

test('responds to HEAD as to GET, without the body', async () => {
	for (const operation of operations.filter(({ method }) => method === 'GET')) {
		const { path, headers } = await admitted(operation);
		const head = await ask('HEAD', path, { headers });
		assert.deepEqual([head.status, head.text], [200, ''], operation.id);
		assert.ok(head.headers['x-request-id'], operation.id);
		const type = Object.keys(operation.responses.get(200)?.content ?? {});
		assert.equal(head.headers['content-type']?.split(';')[0], type[0], operation.id);
		// Streams and the export, which names its time, have no length.
		if (type[0] === 'text/event-stream' || type[0] === 'application/jsonl') continue;
		// A delivery changes while it is attempted.
		const { same, get } = await until(`${operation.id} stands still`, async () => {
			const before = await ask('GET', path, { headers });
			const same = await ask('HEAD', path, { headers });
			const get = await ask('GET', path, { headers });
			return before.text === get.text && { same, get };
		});
		assert.equal(same.headers['content-length'], String(Buffer.byteLength(get.text)), operation.id);
		assert.equal(same.headers.etag, get.headers.etag, operation.id);
	}
});

test('responds 400 to a path that is not percent-encoded UTF-8, and 404 to a path that decodes to no id', async () => {
	for (const operation of operations) {
		if (!operation.path.includes('{')) continue;
		const headers = { ...(await tenant.headersFor(operation)), ...JSON_TYPE };
		const send = async (id: string) => {
			const body = operation.method === 'GET' ? undefined : JSON.stringify((await tenant.body(operation)) ?? {});
			const query = new URLSearchParams(await tenant.query(operation)).toString();
			return ask(operation.method, `${filled(operation, id)}?${query}`, { headers, body });
		};
		for (const id of ['%', '%z', '%zz', '%ff', '%c0%80', '%ed%a0%80', 'x%']) {
			assertRefused(await send(id), 'invalid_request', `${operation.id} ${id}`);
		}
		for (const id of ['%00', '%2F', '..%2F..', '%E2%80%AE', "'%20OR%201=1--", 'x'.repeat(2000)]) {
			assertRefused(await send(id), 'not_found', `${operation.id} ${id}`);
		}
	}
});

test('every operation rejects a body that is not JSON or has another content type', async () => {
	const sound = '{"name": "x"}';
	const refused: Array<[what: string, code: ErrorCode, headers: Record<string, string>, body: string | Buffer]> = [
		['cut off', 'invalid_json', JSON_TYPE, '{"name":'],
		['two values', 'invalid_json', JSON_TYPE, '{} {}'],
		['a comment', 'invalid_json', JSON_TYPE, '{/* x */}'],
		['not a number', 'invalid_json', JSON_TYPE, '{"name": NaN}'],
		['broken UTF-8', 'invalid_json', JSON_TYPE, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
		['UTF-16', 'invalid_json', JSON_TYPE, Buffer.from(sound, 'utf16le')],
		['half a surrogate pair', 'invalid_json', JSON_TYPE, '{"name": "\\ud800"}'],
		['no type', 'unsupported_content_type', {}, sound],
		['text', 'unsupported_content_type', { 'content-type': 'text/plain' }, sound],
		['a form', 'unsupported_content_type', { 'content-type': 'application/x-www-form-urlencoded' }, 'name=x'],
		['almost JSON', 'unsupported_content_type', { 'content-type': 'application/jsonp' }, sound],
		['Latin-1', 'unsupported_content_type', { 'content-type': 'application/json; charset=iso-8859-1' }, sound],
		['no object', 'invalid_request', JSON_TYPE, '[1]'],
		['a text', 'invalid_request', JSON_TYPE, '"name"'],
		['null', 'invalid_request', JSON_TYPE, 'null'],
	];
	for (const operation of operations.filter(({ method }) => method !== 'GET')) {
		const { path, headers } = await admitted(operation);
		for (const [what, code, type, body] of refused) {
			for (const chunked of [false, true]) {
				const answer = await ask(operation.method, path, { headers: { ...headers, ...type }, body, chunked });
				const details = assertRefused(answer, code, `${operation.id}: ${what}`);
				if (code === 'invalid_request') assert.deepEqual(placesOf(details), [''], operation.id);
			}
		}
		if (!operation.body['application/json']) continue;
		const nothing = await ask(operation.method, path, { headers: { ...headers, ...JSON_TYPE } });
		assertRefused(nothing, 'invalid_request', `${operation.id}: no body`);
	}
});

test('responds 413 to a body over 1 MiB, with and without Content-Length', async () => {
	const body = `{"name": "${'x'.repeat(MEBIBYTE)}"}`;
	for (const operation of operations.filter(({ method }) => method !== 'GET')) {
		const { path, headers } = await admitted(operation);
		for (const chunked of [false, true]) {
			const answer = await ask(operation.method, path, { headers: { ...headers, ...JSON_TYPE }, body, chunked });
			assertRefused(answer, 'payload_too_large', operation.id);
		}
	}
});

test('responds 400 to an unknown or repeated query parameter and names it', async () => {
	for (const operation of operations) {
		// Parameters that caches add to the URL of a widget's configuration must not break a page.
		if (IGNORES_UNKNOWN_QUERY.includes(operation.id)) continue;
		const { path, headers } = await admitted(operation);
		const known = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
		const faults: Array<[query: string, place: string]> = [
			...known.map((name) => [`${name}=1&${name}=1`, `/${name}`] as [string, string]),
			['nonesuch=1', '/nonesuch'],
			['a%2Fb~c=1', '/a~1b~0c'],
			['a%2Fb~c=1&a%2Fb~c=1', '/a~1b~0c'],
			['=1', '/'],
		];
		for (const [query, place] of faults) {
			const answer = await ask(operation.method, `${path}${path.includes('?') ? '&' : '?'}${query}`, { headers });
			const details = assertRefused(answer, 'invalid_request', `${operation.id} ${query}`);
			assert.deepEqual(placesOf(details), [place], `${operation.id} ${query}`);
		}
	}
});

test('rejects an unexpected body and does not ignore it', async () => {
	for (const operation of operations.filter(({ body }) => Object.keys(body).length === 0)) {
		const { path, headers } = await admitted(operation);
		const send = (body: string) => ask(operation.method, path, { headers: { ...headers, ...JSON_TYPE }, body });
		// The response is rendered already, whatever else the request holds.
		if (IGNORES_UNKNOWN_QUERY.includes(operation.id)) continue;
		const details = assertRefused(await send('{"purge": true}'), 'invalid_request', operation.id);
		assert.deepEqual(placesOf(details), ['/purge'], operation.id);
	}
});

test('rejects headers over 16 KiB before routing, without the envelope, as documented', async () => {
	const { status, headers } = await ask('GET', '/api/v1/assistants', { headers: { 'x-filler': 'x'.repeat(20_000) } });
	assert.equal(status, 431);
	assert.equal(headers['x-request-id'], undefined);
});
