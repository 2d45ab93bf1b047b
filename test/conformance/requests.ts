import assert from 'node:assert/strict';
import { eventsOf, type ReceivedEvent } from '../support/event-stream.ts';
import type { ApiDescription, DescribedOperation } from '../support/openapi.ts';

/** The parts of a request. An absent part is not sent. */
export interface Parts {
	path?: Record<string, string>;
	query?: Record<string, string>;
	headers?: Record<string, string>;
	/** Sent as JSON, unless it is a form. */
	body?: unknown;
}

export interface ApiResponse {
	status: number;
	headers: Headers;
	/** The media type, without parameters; null without a body. */
	type: string | null;
	/** The parsed JSON, or the events of a stream. */
	// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
	body: any;
}

/** Longer than any response takes, also on a busy machine. */
const DEADLINE_MS = 120_000;

const EVENT_STREAM = 'text/event-stream';
const TEXT_TYPES = new Set(['text/csv', 'application/octet-stream', 'application/jsonl', 'text/markdown']);

/** Sends a request of an operation. A stream that stays open is closed after its head. */
export async function send(
	url: string,
	{ method, path }: Pick<DescribedOperation, 'method' | 'path'>,
	{ path: ids = {}, query = {}, headers = {}, body }: Parts,
): Promise<ApiResponse> {
	const place = path.replaceAll(/\{(\w+)\}/g, (_braces, name) => encodeURIComponent(ids[name] ?? assert.fail(name)));
	const search = new URLSearchParams(query).toString();
	const form = body instanceof FormData;
	const leave = new AbortController();
	const timer = setTimeout(() => leave.abort(new Error(`${method} ${place} takes too long.`)), DEADLINE_MS);
	try {
		const response = await fetch(`${url}${place}${search === '' ? '' : `?${search}`}`, {
			method,
			headers: { ...(body === undefined || form ? {} : { 'content-type': 'application/json' }), ...headers },
			...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
			signal: leave.signal,
		});
		const type = response.headers.get('content-type')?.split(';')[0]?.trim() ?? null;
		const head = { status: response.status, headers: response.headers, type };
		if (type === EVENT_STREAM) {
			// The stream of a reply ends with it; those of conversations and events go on.
			if (method === 'POST') return { ...head, body: await wholeStream(response) };
			leave.abort();
			return { ...head, body: [] };
		}
		const text = await response.text();
		if (type !== null && TEXT_TYPES.has(type)) return { ...head, body: text };
		return { ...head, body: text === '' ? undefined : JSON.parse(text) };
	} finally {
		clearTimeout(timer);
	}
}

const isAsked = ({ parameters }: DescribedOperation) => parameters.some(({ name }) => name === 'stream');

async function wholeStream(response: Response): Promise<ReceivedEvent[]> {
	const events: ReceivedEvent[] = [];
	for await (const event of eventsOf(response)) events.push(event);
	return events;
}

/**
 * Validates a response against the description of its operation: status, media type, headers and body.
 * @throws AssertionError that names the difference
 */
export function assertDescribed(api: ApiDescription, operation: DescribedOperation, response: ApiResponse): void {
	const { status, headers, type, body } = response;
	const what = `${operation.id} answered ${status} ${JSON.stringify(body)?.slice(0, 500)}`;
	const described = operation.responses.get(status);
	assert.ok(described, `${what}: this status is not described`);
	for (const [name, { required, schema }] of Object.entries(described.headers)) {
		const value = headers.get(name);
		if (required) assert.ok(value !== null, `${what}: the header ${name} is missing`);
		if (value === null || schema.type !== 'integer') continue;
		assert.equal(api.check(schema)(Number(value)), null, `${what}: ${name}: ${value}`);
	}
	const types = Object.keys(described.content);
	if (types.length === 0) {
		assert.equal(body, undefined, `${what}: no body is described`);
		return;
	}
	// Of a GET that streams if it is asked to, the whole response is described.
	if (type === EVENT_STREAM && operation.method === 'GET' && isAsked(operation)) return;
	assert.ok(type !== null && types.includes(type), `${what}: ${type} is not described`);
	const check = api.check((described.content[type] ?? assert.fail()).schema);
	for (const value of type === EVENT_STREAM ? (body as ReceivedEvent[]) : [body]) {
		const complaint = check(type === EVENT_STREAM ? (value as ReceivedEvent).data : value);
		assert.equal(complaint, null, what);
	}
	if (status >= 400) assert.equal(body.error.request_id, headers.get('x-request-id'), what);
}
