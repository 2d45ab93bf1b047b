import assert from 'node:assert/strict';
import fc, { type Arbitrary } from 'fast-check';
import type { ApiDescription, DescribedOperation, JsonSchema } from '../support/openapi.ts';
import { faultsOf } from './faults.ts';
import type { Parts } from './requests.ts';
import { IGNORES_UNKNOWN_QUERY } from './resources.ts';

/** A request with one error. */
export interface FaultyRequest {
	what: string;
	/** A JSON Pointer, or the name of a header. */
	place: string;
	requests: Arbitrary<Parts>;
}

/** Every request with a single error that an operation's description can detect, made from a valid one. */
export function faultyRequests(api: ApiDescription, operation: DescribedOperation): FaultyRequest[] {
	return [
		...queryFaults(api, operation),
		...headerFaults(operation),
		...bodyFaults(api, operation),
		...formFaults(api, operation),
	];
}

function bodyFaults(api: ApiDescription, operation: DescribedOperation): FaultyRequest[] {
	const media = operation.body['application/json'];
	if (!media) {
		if (operation.method === 'GET') return [];
		const requests = fc.constant({ body: { nonesuch: 1 } });
		return 'multipart/form-data' in operation.body ? [] : [{ what: 'unknown', place: '/nonesuch', requests }];
	}
	const maxBytes = largestBody(operation);
	return faultsOf(api, media.schema).map(({ what, path, values }) => ({
		what,
		place: path,
		// A larger body is rejected before it is parsed, as the documentation says.
		requests: values.filter((body) => Buffer.byteLength(JSON.stringify(body)) <= maxBytes).map((body) => ({ body })),
	}));
}

/** The largest JSON body in bytes that the description of an operation allows. */
function largestBody({ bodyDescription }: DescribedOperation): number {
	const [, kibibytes] = /^At most (\d+) KiB\.$/.exec(bodyDescription ?? '') ?? [];
	return Number(kibibytes ?? 1024) * 1024;
}

/** Queries are text: values that are not numbers, choices or times are wrong. */
function queryFaults(api: ApiDescription, { id, parameters }: DescribedOperation): FaultyRequest[] {
	const unknown = { what: 'unknown', place: '/nonesuch', requests: fc.constant({ query: { nonesuch: '1' } }) };
	const faults: FaultyRequest[] = IGNORES_UNKNOWN_QUERY.includes(id) ? [] : [unknown];
	for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'query')) {
		for (const { what, values } of faultsOf(api, schema)) {
			const isText = [schema.type].flat().includes('string') && !schema.enum && !schema.format;
			if (what.includes('instead of') && isText) continue;
			const requests = values
				.filter((value) => typeof value === 'string' || typeof value === 'number')
				.map((value) => ({ query: { [name]: String(value) } }));
			if (!what.includes('instead of') || what.startsWith('string')) faults.push({ what, place: `/${name}`, requests });
		}
	}
	return faults;
}

function headerFaults({ parameters }: DescribedOperation): FaultyRequest[] {
	const wrong: Record<string, string> = {
		'Idempotency-Key': 'ü'.repeat(3),
		'If-Match': '3',
		'Last-Event-ID': 'not a position',
	};
	return parameters.flatMap(({ name, in: place }) => {
		const value = wrong[name];
		if (place !== 'header' || value === undefined) return [];
		return [{ what: 'malformed', place: name, requests: fc.constant({ headers: { [name]: value } }) }];
	});
}

/** Forms with one error. */
function formFaults(api: ApiDescription, operation: DescribedOperation): FaultyRequest[] {
	const media = operation.body['multipart/form-data'];
	if (!media) return [];
	const schema = api.resolve<JsonSchema>(media.schema);
	const [fileName] = Object.entries(schema.properties ?? {}).find(([, { format }]) => format === 'binary') ?? [];
	assert.ok(fileName, `${operation.id}: a form without a file`);
	const form = (fields: Record<string, unknown>): Parts => {
		const body = new FormData();
		for (const [name, value] of Object.entries(fields)) {
			if (name === fileName) body.set(name, new Blob(['The shop opens at ten.'], { type: 'text/plain' }), 'shop.txt');
			else body.set(name, String(value));
		}
		return { body };
	};
	// A part of a form is text or a file: it has no wrong type and no nested members.
	return faultsOf(api, media.schema)
		.filter(({ what, path }) => path !== '' && !what.includes('instead of'))
		.map(({ what, path, values }) => ({
			what,
			place: path,
			requests: values.map((fields) => form(fields as Record<string, unknown>)),
		}));
}
