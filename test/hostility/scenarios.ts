import { call } from '../../bench/load/deploy.ts';
import type { ServerProcess } from '../support/server-process.ts';
import type { AttackOrder } from './attacker.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** What the scenarios need on the server. */
export interface Place {
	deployment: string;
	conversations: string[];
}

/** One kind of hostile clients. */
export interface Scenario {
	name: string;
	/** The orders for the attackers, who carry them out at the same time. */
	orders: AttackOrder[];
	/** What happens on the server meanwhile, for example messages for the streams. */
	meanwhile?: () => Promise<void>;
	/** The most that the server's resident memory may grow meanwhile. */
	maxGrowthBytes: number;
	/** Statuses of answers to hostile requests that are expected, at least one of them. Absent: the answers do not matter. */
	statuses?: number[];
}

const request = (method: string, path: string, headers: string[], body = '') =>
	[
		`${method} ${path} HTTP/1.1`,
		'Host: a',
		...headers,
		...(body === '' ? [] : [`Content-Length: ${body.length}`]),
		'',
		body,
	].join('\r\n');

/** All scenarios. @param scale the part of the full number of connections */
export function scenariosOf(
	server: ServerProcess,
	{ deployment, conversations }: Place,
	scale: number,
	seconds: number,
): Scenario[] {
	const { port, key } = server;
	const bearer = `Authorization: Bearer ${key}`;
	const json = 'Content-Type: application/json';
	const visitor = 'Origin: https://shop.example';
	const count = (full: number) => Math.ceil(full * scale);
	const hold = (
		full: number,
		requests: string[],
		more: Partial<Extract<AttackOrder, { hold: number }>> = {},
	): AttackOrder => ({
		...{ hold: count(full), port, requests, stalled: false, dripMs: null },
		...more,
	});
	const flood = (text: string): AttackOrder => ({ flood: text, port, connections: 40, seconds });
	const streams = conversations.map((id) =>
		request('GET', `/api/v1/conversations/${id}/events`, [bearer, 'Accept: text/event-stream']),
	);
	const message = (content: string) => JSON.stringify({ deployment_id: deployment, content });
	const say = async () => {
		for (const conversation_id of conversations)
			await call(server, 'POST', '/api/v1/messages', {
				deployment_id: deployment,
				conversation_id,
				content: 'x'.repeat(8_000),
			});
	};
	return [
		{
			name: '10,000 idle connections',
			orders: [hold(10_000, [''])],
			maxGrowthBytes: count(10_000) * 4 * KIB + 32 * MIB,
		},
		{
			name: '5,000 event streams that read nothing, and messages for them',
			orders: [hold(5_000, streams, { stalled: true })],
			meanwhile: async () => {
				for (let round = 0; round < 5; round++) await say();
			},
			// At most 64 KiB wait for a stream before it is disconnected.
			maxGrowthBytes: count(5_000) * 72 * KIB + 64 * MIB,
		},
		{
			name: '500 downloads that read nothing',
			orders: [hold(500, [request('GET', '/api/openapi.json', [])], { stalled: true })],
			maxGrowthBytes: 64 * MIB,
		},
		{
			name: '5,000 requests whose heads arrive byte by byte',
			orders: [hold(5_000, [request('GET', '/healthz', [`X: ${'y'.repeat(500)}`])], { dripMs: 1_000 })],
			maxGrowthBytes: count(5_000) * 8 * KIB + 32 * MIB,
		},
		{
			name: '5,000 bodies that arrive byte by byte',
			orders: [
				hold(5_000, [request('POST', '/api/v1/messages', [bearer, json], message('y'.repeat(2_000)))], {
					dripMs: 1_000,
				}),
			],
			maxGrowthBytes: count(5_000) * 16 * KIB + 32 * MIB,
		},
		{
			name: 'a flood of configurations',
			orders: [flood(request('GET', `/api/v1/widget/config?deployment_id=${deployment}`, [visitor]))],
			maxGrowthBytes: 64 * MIB,
			statuses: [429],
		},
		{
			name: "a flood of visitors' messages",
			orders: [flood(request('POST', '/api/v1/widget/messages', [visitor, json], message('Hello?')))],
			maxGrowthBytes: 64 * MIB,
			statuses: [429],
		},
		{
			name: 'a flood of sign-ins',
			orders: [
				flood(
					request(
						'POST',
						'/api/v1/session',
						[json],
						JSON.stringify({ email: 'a@b.example', password: 'wrong password' }),
					),
				),
			],
			maxGrowthBytes: 128 * MIB,
			statuses: [429],
		},
		{
			name: 'a flood of requests without a valid key',
			orders: [flood(request('GET', '/api/v1/assistants', ['Authorization: Bearer wrong']))],
			maxGrowthBytes: 64 * MIB,
			statuses: [401],
		},
		{
			name: 'a flood of messages to one conversation',
			orders: [
				flood(
					request(
						'POST',
						'/api/v1/messages',
						[bearer, json],
						JSON.stringify({ deployment_id: deployment, conversation_id: conversations[0], content: 'Again?' }),
					),
				),
			],
			maxGrowthBytes: 64 * MIB,
			statuses: [429],
		},
		{
			name: 'a flood of bodies that are too large',
			orders: [flood(request('POST', '/api/v1/messages', [bearer, json], `"${'x'.repeat(1_100_000)}"`))],
			maxGrowthBytes: 128 * MIB,
			statuses: [413],
		},
		{
			name: 'more followers of a conversation than it takes',
			orders: [hold(1_500, streams.slice(0, 1))],
			maxGrowthBytes: 48 * MIB,
			...(scale === 1 ? { statuses: [429] } : {}),
		},
	];
}
