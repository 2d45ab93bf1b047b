import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { addWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import type { DescribedOperation } from '../support/openapi.ts';
import { type ApiResponse, assertDescribed, type Parts } from './requests.ts';
import { startConformanceServer } from './server.ts';
import { type Slot, Tenant } from './tenant.ts';
import { unknownId } from './unknown-id.ts';

const server = await startConformanceServer();
const { api, app } = server;
after(() => server[Symbol.asyncDispose]());

const owner = new Tenant(server);
const stranger = await strangerOf();

async function strangerOf(): Promise<Tenant> {
	await using store = await openStoreDirectly(app);
	return new Tenant(server, (await addWorkspace(store)).key);
}

/** A response without the request's id. */
function seen({ status, headers, body }: ApiResponse): unknown {
	const { request_id: _id, ...error } = body?.error ?? {};
	const told = [...headers].filter(([name]) => !['x-request-id', 'date', 'content-length'].includes(name));
	return { status, headers: told, body: body?.error ? { error } : body };
}

/** Operations of a visitor's page, which are public: they name the deployment of the page's owner. */
const isPublic = ({ security }: DescribedOperation, { name }: Slot) =>
	name === 'deployment_id' && !security.some((schemes) => schemes.includes('apiKey'));

async function requestOf(tenant: Tenant, operation: DescribedOperation): Promise<Required<Parts>> {
	const path = await tenant.pathTo(operation.path);
	return { path, query: await tenant.query(operation), headers: {}, body: await tenant.body(operation) };
}

function withId({ path, query, body, headers }: Required<Parts>, slot: Slot, id: string): Parts {
	const changed = { [slot.name]: id };
	if (slot.in === 'path') return { path: { ...path, ...changed }, query, headers, body };
	if (slot.in === 'query') return { path, query: { ...query, ...changed }, headers, body };
	return { path, query, headers, body: { ...(body as object), ...changed } };
}

test('treats ids of another workspace as unknown, in every parameter of every operation', async (context) => {
	let walked = 0;
	for (const operation of api.operations) {
		for (const slot of owner.slots(operation)) {
			if (isPublic(operation, slot)) continue;
			walked++;
			await context.test(`${operation.id} ${slot.in} ${slot.name}`, async () => {
				const foreign = slot.in === 'path' ? await owner.make(slot.thing) : await owner.standing(slot.thing);
				const request = await requestOf(stranger, operation);
				const response = await stranger.call(operation, withId(request, slot, foreign));
				assertDescribed(api, operation, response);
				const nothing = await stranger.call(operation, withId(request, slot, unknownId(foreign)));
				assert.deepEqual(seen(response), seen(nothing));
				// A filter by an unknown id returns an empty list, or figures of nothing. Every other operation rejects it.
				if (slot.in === 'query' && response.status === 200) assert.deepEqual(response.body.data ?? [], []);
				else assert.deepEqual([response.status, response.body.error.code], [404, 'not_found']);
			});
		}
	}
	assert.ok(walked > 40, `${walked} places`);
});

test('shows nothing of another workspace in operations without ids', async (context) => {
	for (const thing of new Set(
		api.operations.flatMap((operation) => owner.slots(operation).map((slot) => slot.thing)),
	)) {
		await owner.standing(thing);
	}
	const mine = await idsOf(owner);
	for (const operation of api.operations) {
		if (operation.method !== 'GET' || operation.path.includes('{')) continue;
		if (owner.slots(operation).some((slot) => isPublic(operation, slot))) continue;
		await context.test(operation.id, async () => {
			const { status, body } = await stranger.call(operation, { query: await stranger.query(operation) });
			assert.equal(status, 200);
			const text = JSON.stringify(body);
			for (const id of mine) assert.ok(!text.includes(id), `${id} of the other workspace`);
		});
	}
});

/** Every id in a workspace's own lists. */
async function idsOf(tenant: Tenant): Promise<Set<string>> {
	const ids = new Set<string>();
	for (const operation of api.operations) {
		if (operation.method !== 'GET' || operation.path.includes('{') || !operation.security.flat().includes('apiKey'))
			continue;
		const { body } = await tenant.call(operation, { query: await tenant.query(operation) });
		for (const [id] of JSON.stringify(body).matchAll(/[a-z]+_[0-9a-hjkmnp-tv-z]{32}/g)) ids.add(id);
	}
	assert.ok(ids.size > 10);
	return ids;
}
