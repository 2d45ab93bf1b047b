import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import type { DescribedOperation, Parameter } from '../support/openapi.ts';
import { faultyRequests } from './faulty-requests.ts';
import { type ApiResponse, assertDescribed, type Parts } from './requests.ts';
import { EXAMPLES_WITH_SECRET } from './resources.ts';
import { startConformanceServer } from './server.ts';
import { Tenant } from './tenant.ts';
import { valuesOf } from './values.ts';

const server = await startConformanceServer();
const { api } = server;
const tenant = new Tenant(server);
after(() => server[Symbol.asyncDispose]());

/** A failure names its seed; FC_SEED repeats the same values. FC_RUNS sets the number of generated requests. */
const seed = process.env.FC_SEED === undefined ? undefined : Number(process.env.FC_SEED);
const often = (numRuns: number) => ({ numRuns, ...(seed === undefined ? {} : { seed }) });

/** Requests that are generated for each operation. */
const RUNS = Number(process.env.FC_RUNS ?? 5);
const LONGEST_QUERY = 8000;

async function holds(operation: DescribedOperation, parts: Parts): Promise<ApiResponse> {
	const response = await tenant.call(operation, parts);
	assert.ok(
		response.status < 500,
		`${operation.id} answered ${response.status} to ${JSON.stringify(parts).slice(0, 1000)}`,
	);
	assertDescribed(api, operation, response);
	return response;
}

/** The required input of an operation: ids of new resources, a body and a query with existing ones. */
async function validParts(operation: DescribedOperation): Promise<Parts> {
	const path = await tenant.pathTo(operation.path);
	const body = await tenant.body(operation);
	return { path, query: await tenant.query(operation), ...(body === undefined ? {} : { body }) };
}

test('succeeds with the described example of every operation', async (context) => {
	for (const operation of api.operations) {
		await context.test(operation.id, async () => {
			const response = await holds(operation, await validParts(operation));
			assert.ok(response.status < 300, `${response.status} ${JSON.stringify(response.body)}`);
		});
	}
});

test('accepts the form of every example of a body', async () => {
	for (const operation of api.operations) {
		const media = operation.body['application/json'];
		for (const [name, example] of media ? api.examples(media) : []) {
			const parts = { ...(await validParts(operation)), body: await tenant.about(operation, example) };
			const { status, body } = await holds(operation, parts);
			const code = status < 400 ? null : body.error.code;
			if (EXAMPLES_WITH_SECRET.includes(operation.id)) continue;
			assert.notEqual(code, 'invalid_request', `${operation.id} ${name}: ${JSON.stringify(body)}`);
		}
	}
});

test('answers as described to any request that a schema allows', async (context) => {
	for (const operation of api.operations) {
		await context.test(operation.id, async () => {
			const valid = await validParts(operation);
			await fc.assert(
				fc.asyncProperty(await partsOf(operation, valid), async (parts) => {
					const { status, body } = await holds(operation, parts);
					// Removed resources, and those that a change may have disabled, are created again for the next run.
					const gone = operation.method === 'DELETE' || status === 404 || body?.error?.code?.endsWith('_archived');
					if (gone) Object.assign(valid, await validParts(operation));
				}),
				often(operation.body['application/json'] || operation.parameters.some(isOptional) ? RUNS : 2),
			);
		});
	}
});

test('answers 400 with the path to any request that a schema rejects', async (context) => {
	for (const operation of api.operations) {
		await context.test(operation.id, async () => {
			const valid = await validParts(operation);
			const { path } = valid;
			for (const { what, place, requests } of faultyRequests(api, operation)) {
				await fc.assert(
					fc.asyncProperty(requests, async (faulty) => {
						const response = await holds(operation, {
							...valid,
							...faulty,
							query: { ...valid.query, ...faulty.query },
							path,
						});
						const { status, body } = response;
						assert.deepEqual(
							[status, body.error?.code],
							[400, 'invalid_request'],
							`${place} ${what}: ${JSON.stringify(body)}`,
						);
						if (place.startsWith('/') || place === '') {
							const places = body.error.details?.map((detail: { path: string }) => detail.path);
							assert.ok(places?.includes(place), `${place} ${what}: ${JSON.stringify(body)}`);
						} else assert.ok(body.error.message.includes(place), `${place} ${what}: ${JSON.stringify(body)}`);
					}),
					often(1),
				);
			}
		});
	}
});

const isOptional = ({ in: place, required }: Parameter) => place !== 'path' && !required;

/** Requests that an operation's description allows, with existing ids, unknown ids and malformed ids. */
async function partsOf(operation: DescribedOperation, valid: Parts): Promise<Arbitrary<Parts>> {
	const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
	const query: Record<string, Arbitrary<string>> = {};
	for (const { name, schema } of parameters) {
		const made = valuesOf(api, schema).map(String);
		const good = valid.query?.[name];
		query[name] = good === undefined ? made : fc.oneof({ weight: 5, arbitrary: fc.constant(good) }, made);
	}
	const requiredKeys = parameters.flatMap(({ name, required }) => (required ? [name] : []));
	const media = operation.body['application/json'];
	const bodies = media ? valuesOf(api, media.schema) : fc.constant(undefined);
	const standing = (await tenant.about(operation, withIds(operation))) as Record<string, string> | undefined;
	// A longer body is rejected before it is parsed, as the documentation says.
	const queries = fc
		.record(query, { requiredKeys })
		.filter((made) => `${new URLSearchParams(made)}`.length < LONGEST_QUERY);
	return fc
		.record({ query: queries, body: bodies, real: fc.integer({ min: 0, max: 4 }) })
		.map(({ query, body, real }) => {
			const about = real > 0 && body !== undefined ? { ...(body as object), ...only(standing, body as object) } : body;
			return { path: valid.path, query, ...(about === undefined ? {} : { body: about }) };
		});
}

/** A body with only the ids that the operation's body may have. */
function withIds(operation: DescribedOperation): Record<string, string> {
	const slots = tenant.slots(operation).filter((slot) => slot.in === 'body');
	return Object.fromEntries(slots.map(({ name }) => [name, '']));
}

function only(ids: Record<string, string> | undefined, body: object): object {
	return Object.fromEntries(Object.entries(ids ?? {}).filter(([name]) => name in body));
}
