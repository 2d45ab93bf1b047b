import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import fc from 'fast-check';
import type { DescribedOperation } from '../support/openapi.ts';
import { faultyRequests } from './faulty-requests.ts';
import { type ApiResponse, assertDescribed, type Parts } from './requests.ts';
import { startConformanceServer } from './server.ts';
import { pathSlots, Tenant } from './tenant.ts';
import { unknownId } from './unknown-id.ts';

// Three of the rules by which RESTler (Atlidakis, Godefroid, Polishchuk: "Checking Security Properties of Cloud Service REST
// APIs", 2020) detects violations of a resource's lifecycle. The fourth, namespaces, is tested in workspaces.test.ts.

const server = await startConformanceServer();
const { api } = server;
const tenant = new Tenant(server);
after(() => server[Symbol.asyncDispose]());

async function call(operation: DescribedOperation, parts: Parts): Promise<ApiResponse> {
	const response = await tenant.call(operation, parts);
	assertDescribed(api, operation, response);
	return response;
}

/** The error for an unknown resource, without the request's id. */
function withoutRequestId({ status, body }: ApiResponse): unknown {
	const { request_id: _id, ...error } = body?.error ?? {};
	return { status, error };
}

/** A removal in each of its forms: plain, and with each flag of its query. */
function removals(): Array<{ operation: DescribedOperation; query: Record<string, string>; thing: string }> {
	return api.operations.flatMap((operation) => {
		const slots = pathSlots(operation.path);
		if (operation.method !== 'DELETE' || slots.length === 0) return [];
		const switches = operation.parameters.filter(
			({ in: place, schema }) => place === 'query' && schema.type === 'boolean',
		);
		const thing = slots.at(-1)?.thing as string;
		return [{}, ...switches.map(({ name }) => ({ [name]: 'true' }))].map((query) => ({ operation, query, thing }));
	});
}

/** The operations that name a resource in their path or body. */
function usersOf(thing: string): Array<{ operation: DescribedOperation; place: 'path' | 'body'; name: string }> {
	return api.operations.flatMap((operation) =>
		tenant
			.slots(operation)
			.flatMap((slot) =>
				slot.thing === thing && slot.in !== 'query' ? [{ operation, place: slot.in, name: slot.name }] : [],
			),
	);
}

const removed: string[] = [];

test('answers 404 for a deleted resource in every operation, and removes it from its list', async (context) => {
	for (const { operation: removal, query, thing } of removals()) {
		await context.test(`${removal.id} ${JSON.stringify(query)}`, async () => {
			for (const { operation, place, name } of usersOf(thing)) {
				const path = await tenant.pathTo(place === 'path' ? operation.path : removal.path);
				const { status, body } = await call(removal, { path, query });
				assert.equal(status, 200, JSON.stringify(body));
				// An archived or detached resource still exists.
				if (body.deleted !== true) return;
				removed.push(removal.id);
				const id = path[pathSlots(removal.path).at(-1)?.name as string] as string;
				const parts = await partsAbout(operation, place, name, id, path);
				const response = await call(operation, parts);
				assert.equal(response.status, 404, `${operation.id} after ${removal.id}: ${JSON.stringify(response.body)}`);
				await assertUnlisted(thing, path, id);
			}
		});
	}
	const promised = removals().filter(({ operation }) =>
		JSON.stringify(operation.responses.get(200)).includes('schemas/Deleted'),
	);
	for (const { operation } of promised)
		assert.ok(removed.includes(operation.id), `${operation.id} was never seen to delete`);
});

test('answers 404 when a resource is detached twice', async () => {
	for (const { operation, query } of removals()) {
		const path = await tenant.pathTo(operation.path);
		const first = await call(operation, { path, query });
		const second = await call(operation, { path, query });
		// Archiving twice is not an error; every other removal happens once.
		const archived = first.body.status === 'archived' && pathSlots(operation.path).length === 1;
		assert.equal(second.status, archived ? 200 : 404, `${operation.id}: ${JSON.stringify(second.body)}`);
	}
});

test('leaves no trace of a rejected creation', async (context) => {
	for (const operation of api.operations) {
		const list = listOf(operation);
		if (!list) continue;
		await context.test(operation.id, async () => {
			const path = await tenant.pathTo(operation.path);
			const query = await tenant.query(list);
			const body = await tenant.body(operation);
			await call(operation, { path, body });
			const before = await listed(list, path, query);
			for (const { what, place, requests } of faultyRequests(api, operation)) {
				const valid = { path, query: await tenant.query(operation), body };
				const response = await call(operation, { ...valid, ...fc.sample(requests, 1)[0] });
				assert.equal(response.status, 400, `${place} ${what}: ${JSON.stringify(response.body)}`);
			}
			for (const slot of tenant.slots(operation).filter((each) => each.in === 'body')) {
				const named = { ...(body as object), [slot.name]: unknownId(await tenant.standing(slot.thing)) };
				const response = await call(operation, { path, body: named });
				assert.equal(response.status, 404, `${slot.name}: ${JSON.stringify(response.body)}`);
			}
			assert.deepEqual(await listed(list, path, query), before);
		});
	}
});

test('finds a resource only under its own parent', async (context) => {
	for (const operation of api.operations) {
		const slots = pathSlots(operation.path);
		for (const { name } of slots.slice(0, -1)) {
			await context.test(`${operation.id} ${name}`, async () => {
				const [mine, others] = [await tenant.pathTo(operation.path), await tenant.pathTo(operation.path)];
				const parts = { query: await tenant.query(operation), body: await tenant.body(operation) };
				const strayed = { ...mine, [name]: others[name] as string };
				const response = await call(operation, { ...parts, path: strayed });
				assert.equal(response.status, 404, JSON.stringify(response.body));
				const last = slots.at(-1)?.name as string;
				const nowhere = { ...strayed, [last]: unknownId(mine[last] as string) };
				assert.deepEqual(
					withoutRequestId(response),
					withoutRequestId(await call(operation, { ...parts, path: nowhere })),
				);
				// The request did not change it either.
				const right = await call(operation, { ...parts, path: mine });
				assert.ok(right.status < 300, JSON.stringify(right.body));
			});
		}
	}
});

/** A request that names the given resource, and existing resources elsewhere. */
async function partsAbout(
	operation: DescribedOperation,
	place: 'path' | 'body',
	name: string,
	id: string,
	path: Record<string, string>,
): Promise<Parts> {
	const body = (await tenant.body(operation)) as object | undefined;
	const query = await tenant.query(operation);
	if (place === 'path') return { path: { ...path, [name]: id }, query, body };
	return { path: await tenant.pathTo(operation.path), query, body: { ...body, [name]: id } };
}

/** The operation that lists what another operation creates. */
function listOf({ method, path, responses }: DescribedOperation): DescribedOperation | undefined {
	if (method !== 'POST' || !responses.has(201)) return undefined;
	const isList = ({ parameters }: DescribedOperation) => parameters.some(({ name }) => name === 'limit');
	return api.operations.find((other) => other.method === 'GET' && other.path === path && isList(other));
}

async function listed(list: DescribedOperation, path: Record<string, string>, query: Record<string, string>) {
	const { status, body } = await call(list, { path, query: { ...query, limit: '100' } });
	assert.equal(status, 200, JSON.stringify(body));
	return (body.data as Array<{ id: string }>).map(({ id }) => id);
}

async function assertUnlisted(thing: string, path: Record<string, string>, id: string): Promise<void> {
	const collection = thing.slice(0, thing.lastIndexOf('/'));
	const list = api.operations.find((operation) => operation.method === 'GET' && operation.path === collection);
	if (list) assert.ok(!(await listed(list, path, await tenant.query(list))).includes(id), `${id} is listed still`);
}
