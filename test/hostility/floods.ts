import type { FloodRequest } from './attacker.ts';
import {
	chunkedRequest,
	get,
	httpRequest,
	jsonHeader,
	keyHeader,
	messageOf,
	pageHeader,
	startConversation,
} from './request-text.ts';
import { type Extent, MIB, type Scenario } from './scenario.ts';
import { MESSAGES_PER_MINUTE, type Target } from './target.ts';

/** The limits of docs/operations.md and, for a key, of the default plan. */
const CONFIGS_PER_MINUTE = 600;
const REQUESTS_PER_MINUTE = 300;
const KEY_REQUESTS_PER_MINUTE = 6_000;
const UPLOAD_BYTES = 25 * MIB;
/** Uploads at a time: each connection sends 26 MiB again and again. */
const UPLOADS = 4;
/** Connections of a flood whose requests are small. */
const CONNECTIONS = 40;
/** More than the messages that may wait in a conversation. */
const MESSAGES_AT_ONCE = 40;

interface Flood {
	request: (target: Target) => FloodRequest | Promise<FloodRequest>;
	/** The status that refuses a request. Null: the server closes the connection. */
	status: number | null;
	maxGrowthMib?: number;
	/** Absent: as many as the scale says. */
	connections?: number;
	size?: Scenario['size'];
	maxAdmitted?: Scenario['maxAdmitted'];
}

/** Scenarios of clients that send requests as fast as they can. */
export function floods({ scale, seconds }: Extent): Scenario[] {
	return [...limitsAMinute(), ...refusals(), ...uploads()].map(
		({
			name,
			request,
			status,
			maxGrowthMib = 64,
			connections = Math.ceil(CONNECTIONS * Math.max(scale, 0.1)),
			...more
		}) => {
			// More than are open at the end.
			const proof = status === null ? { leastClosed: 2 * connections } : { expected: [status] as [number] };
			return {
				...{ name, maxGrowthBytes: maxGrowthMib * MIB, ...proof, ...more },
				order: async (target) => ({
					...{ flood: await request(target), port: target.server.port, connections, seconds },
					...{ expected: [], leastClosed: 0, ...proof },
				}),
			};
		},
	);
}

/** More requests a minute than are allowed. */
function limitsAMinute(): Array<Flood & { name: string }> {
	const limit = (perMinute: number) => ({
		status: 429,
		// At any scale: with fewer, a busy machine does not make more requests a minute than the limit allows.
		connections: CONNECTIONS,
		// The requests of a minute may come at its begin, and those of a minute that has begun, too.
		maxAdmitted: (minutes: number) => perMinute * (1 + Math.ceil(minutes)),
	});
	return [
		{
			name: 'a flood of configurations',
			...limit(CONFIGS_PER_MINUTE),
			request: ({ deployment }) => ({
				head: get(`/api/v1/widget/config?deployment_id=${deployment}`, [pageHeader]),
			}),
		},
		{
			name: "a flood of visitors' messages",
			...limit(MESSAGES_PER_MINUTE),
			request: ({ deployment }) => {
				const message = { deployment_id: deployment, content: 'Hello?' };
				return { head: httpRequest('POST', '/api/v1/widget/messages', [pageHeader, jsonHeader], message) };
			},
		},
		{
			name: "a flood of a visitor's other requests",
			...limit(REQUESTS_PER_MINUTE),
			request: async (target) => {
				const id = await startConversation(target, target.deploymentOfRequests);
				const path = `/api/v1/widget/conversations/${id}/messages?deployment_id=${target.deploymentOfRequests}`;
				return { head: get(path, [pageHeader]) };
			},
		},
		{
			name: 'a flood of requests with one key',
			size: 'small',
			...limit(KEY_REQUESTS_PER_MINUTE),
			request: ({ hostileKey }) => ({ head: get('/api/v1/assistants?limit=1', [keyHeader(hostileKey)]) }),
		},
	];
}

/** Requests that are refused for what they are. */
function refusals(): Array<Flood & { name: string }> {
	const signIn = { email: 'a@b.example', password: 'wrong password' };
	return [
		{
			name: 'a flood of sign-ins',
			...{ status: 429, maxGrowthMib: 128, maxAdmitted: () => 0 },
			request: () => ({ head: httpRequest('POST', '/api/v1/session', [jsonHeader], signIn) }),
		},
		{
			name: 'a flood of requests without a valid key',
			...{ status: 401, maxAdmitted: () => 0 },
			request: () => ({ head: get('/api/v1/assistants', [keyHeader('wrong')]) }),
		},
		{
			name: 'a flood of messages to one conversation',
			...{ status: 429, connections: MESSAGES_AT_ONCE },
			request: (target) => ({
				head: messageOf(target, { conversation_id: target.conversations[0], content: 'Again?' }),
			}),
		},
		{
			name: 'a flood of bodies that are too large',
			...{ status: 413, maxGrowthMib: 128, maxAdmitted: () => 0 },
			request: ({ hostileKey }) => ({
				head: httpRequest('POST', '/api/v1/messages', [keyHeader(hostileKey), jsonHeader], 'x'.repeat(1_100_000)),
			}),
		},
		{
			name: 'a flood of bodies in chunks of one byte',
			// Each opens about forty connections a second, because the server closes them.
			...{ status: null, maxAdmitted: () => 0, connections: 10 },
			request: () => ({
				head: chunkedRequest('POST', '/api/v1/widget/messages', [pageHeader, jsonHeader], '1'.repeat(20_000)),
			}),
		},
	];
}

/** Uploads of files that are too large. Only those with their length say so in the head. */
function uploads(): Array<Flood & { name: string }> {
	const part = 'Content-Disposition: form-data; name="file"; filename="large.txt"\r\nContent-Type: text/plain';
	const before = `--boundary\r\n${part}\r\n\r\n`;
	const after = '\r\n--boundary--\r\n';
	const fillerBytes = UPLOAD_BYTES + MIB;
	const length = before.length + fillerBytes + after.length;
	const headOf = ({ hostileKey, knowledgeBase }: Target, framing: string) =>
		httpRequest('POST', `/api/v1/knowledge-bases/${knowledgeBase}/documents`, [
			...[keyHeader(hostileKey), 'Content-Type: multipart/form-data; boundary=boundary', framing],
		]);
	// The HTTP library reads all that the kernel has received, also while it is paused: up to the whole file.
	const maxGrowthMib = 64 + (UPLOADS * fillerBytes) / MIB;
	const more = { status: 413, maxGrowthMib, connections: UPLOADS, maxAdmitted: () => 0 };
	return [
		{
			name: 'a flood of uploads that are too large, with their length',
			...more,
			request: (target) => ({
				...{ head: headOf(target, `Content-Length: ${length}`) + before, fillerBytes, tail: after },
			}),
		},
		{
			name: 'a flood of uploads that are too large, in chunks',
			...more,
			request: (target) => {
				const head = `${headOf(target, 'Transfer-Encoding: chunked')}${length.toString(16)}\r\n${before}`;
				return { head, fillerBytes, tail: `${after}\r\n0\r\n\r\n` };
			},
		},
	];
}
