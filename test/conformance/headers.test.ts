import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { DescribedOperation } from '../support/openapi.ts';
import { until } from '../support/until.ts';
import { type ApiResponse, assertDescribed, type Parts } from './requests.ts';
import { startConformanceServer } from './server.ts';
import { Tenant } from './tenant.ts';

const server = await startConformanceServer();
const { api } = server;
const tenant = new Tenant(server);
after(() => server[Symbol.asyncDispose]());

/** Above the version of every resource of this test. */
const STALE = '"999999"';
/** The visitor's address, which identifies the visitor. */
const ADDRESS = { 'x-forwarded-for': '192.0.2.7' };

const taking = (header: string) =>
	api.operations.filter(({ parameters }) =>
		parameters.some(({ in: place, name }) => place === 'header' && name === header),
	);

async function call(operation: DescribedOperation, parts: Parts): Promise<ApiResponse> {
	const response = await tenant.call(operation, parts);
	assertDescribed(api, operation, response);
	return response;
}

async function validParts(operation: DescribedOperation): Promise<Parts> {
	const path = await tenant.pathTo(operation.path);
	return { path, query: await tenant.query(operation), body: await tenant.body(operation) };
}

test('answers 304 to a current copy in every operation with If-None-Match', async () => {
	for (const operation of taking('If-None-Match')) {
		const parts = await validParts(operation);
		const statusFor = async (tag: string) =>
			(await call(operation, { ...parts, headers: { 'if-none-match': tag } })).status;
		// A document gets new versions while it is being indexed.
		const etag = await until(`${operation.id} answers 304`, async () => {
			const current = (await call(operation, parts)).headers.get('etag') ?? assert.fail(operation.id);
			return (await statusFor(current)) === 304 && current;
		});
		assert.equal(await statusFor(`"other", W/${etag}`), 304, operation.id);
		assert.equal(await statusFor(STALE), 200, operation.id);
	}
});

test('changes only the named version in every operation with If-Match', async () => {
	for (const operation of taking('If-Match')) {
		const get = api.operations.find(({ method, path }) => method === 'GET' && path === operation.path);
		const parts = await validParts(operation);
		const late = await call(operation, { ...parts, headers: { 'if-match': STALE } });
		assert.deepEqual([late.status, late.body.error?.code], [412, 'precondition_failed'], operation.id);
		// An attachment is not a resource: its version is that of the resource from which it is detached.
		if (!get) continue;
		await until(`${operation.id} finds the version that was read`, async () => {
			const etag = (await call(get, { path: parts.path })).headers.get('etag') ?? assert.fail(operation.id);
			return (await call(operation, { ...parts, headers: { 'if-match': etag } })).status === 200;
		});
	}
});

test('replays the same response in every operation with an Idempotency-Key', async () => {
	for (const operation of taking('Idempotency-Key')) {
		const { headers: credential = {}, ...parts } = {
			...(await validParts(operation)),
			headers: await tenant.headersFor(operation),
		};
		const send = (key: string, body: unknown) =>
			call(operation, { ...parts, body, headers: { ...credential, ...ADDRESS, 'idempotency-key': key } });
		const first = await send('the first', parts.body);
		assert.ok(first.status < 300, `${operation.id}: ${JSON.stringify(first.body)}`);
		assert.equal(first.headers.get('idempotent-replayed'), null, operation.id);
		const again = await send('the first', parts.body);
		assert.equal(again.headers.get('idempotent-replayed'), 'true', operation.id);
		assert.deepEqual([again.status, again.body], [first.status, first.body], operation.id);
		if (parts.body === undefined) continue;
		const changed = (name: string, value: unknown) => typeof value === 'string' && !name.endsWith('_id');
		const members = Object.entries(parts.body as object);
		if (!members.some(([name, value]) => changed(name, value))) continue;
		const other = Object.fromEntries(
			members.map(([name, value]) => [name, changed(name, value) ? `${value}x` : value]),
		);
		const reused = await send('the first', other);
		// Validation of the body comes first.
		const codes = ['idempotency_key_reused', 'invalid_request'];
		assert.ok(codes.includes(reused.body.error?.code), `${operation.id}: ${JSON.stringify(reused.body)}`);
	}
});
