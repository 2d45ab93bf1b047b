import { call } from '../../bench/load/deploy.ts';
import type { AttackOrder } from './attacker.ts';
import { followersOf, get, messageOf, pageHeader, startConversation } from './request-text.ts';
import { type Extent, KIB, MIB, type Scenario } from './scenario.ts';
import { SMALL_SERVER_DESCRIPTORS, type Target } from './target.ts';

/** Followers that a conversation takes. */
const MAX_FOLLOWERS = 1_000;
/** Open event streams of a visitor of a deployment. */
const MAX_STREAMS = 100;

/** Scenarios of clients that open many connections. Most of them are slow. */
export function heldConnections({ scale }: Extent): Scenario[] {
	const count = (full: number) => Math.ceil(full * scale);
	return [
		{
			name: '10,000 idle connections',
			order: (target) => hold(target, count(10_000), ['']),
			held: { connections: count(10_000) },
			maxGrowthBytes: count(10_000) * 4 * KIB + 32 * MIB,
		},
		{
			name: '5,000 event streams that read nothing, and messages for them',
			order: (target) => hold(target, count(5_000), followersOf(target), { stalled: true }),
			held: { connections: count(5_000), streams: count(5_000) },
			meanwhile: async (target) => {
				for (let round = 0; round < count(5); round++) await sendMuch(target);
			},
			// At most 64 KiB wait for a stream before it is disconnected.
			maxGrowthBytes: count(5_000) * 72 * KIB + 64 * MIB,
		},
		{
			name: '500 downloads that read nothing',
			order: (target) => hold(target, count(500), [get('/api/openapi.json')], { stalled: true }),
			held: { connections: count(500) },
			maxGrowthBytes: 64 * MIB,
		},
		{
			name: '5,000 requests whose heads arrive byte by byte',
			order: (target) => hold(target, count(5_000), [get('/healthz', [`X: ${'y'.repeat(500)}`])], { dripMs: 1_000 }),
			held: { connections: count(5_000) },
			maxGrowthBytes: count(5_000) * 8 * KIB + 32 * MIB,
		},
		{
			name: '5,000 bodies that arrive byte by byte',
			order: (target) => {
				const request = messageOf(target, { content: 'y'.repeat(2_000) });
				return hold(target, count(5_000), [request], { dripMs: 1_000 });
			},
			held: { connections: count(5_000) },
			maxGrowthBytes: count(5_000) * 16 * KIB + 32 * MIB,
		},
		...overLimits(count),
	];
}

/** More connections than a limit allows, at any scale. */
function overLimits(count: (full: number) => number): Scenario[] {
	return [
		{
			name: 'more followers of a conversation than it takes',
			order: (target) => {
				const [follower = ''] = followersOf(target);
				return hold(target, Math.max(count(1_500), MAX_FOLLOWERS + 100), [follower]);
			},
			...{ maxGrowthBytes: 48 * MIB, expected: [429], maxAdmitted: () => MAX_FOLLOWERS },
			held: { streams: MAX_FOLLOWERS },
		},
		{
			name: 'more event streams of a visitor than one may have',
			order: async (target) => {
				const id = await startConversation(target, target.deploymentOfStreams);
				const path = `/api/v1/widget/conversations/${id}/events?deployment_id=${target.deploymentOfStreams}`;
				return hold(target, MAX_STREAMS + 50, [get(path, [pageHeader])]);
			},
			...{ maxGrowthBytes: 48 * MIB, expected: [429], maxAdmitted: () => MAX_STREAMS },
			held: { streams: MAX_STREAMS },
		},
		{
			name: 'more connections than the server takes',
			size: 'small',
			order: (target) => hold(target, SMALL_SERVER_DESCRIPTORS - 24, ['']),
			// A 503 is there only when the server holds as many as it takes.
			...{ maxGrowthBytes: 48 * MIB, expected: [503] },
		},
	];
}

function hold(
	{ server: { port } }: Target,
	count: number,
	requests: string[],
	more: Partial<Extract<AttackOrder, { hold: number }>> = {},
): AttackOrder {
	return { hold: count, port, requests, stalled: false, dripMs: null, ...more };
}

/** Sends a message of 8 KB to each conversation. */
async function sendMuch({ server, deployment, conversations }: Target): Promise<void> {
	for (const conversation_id of conversations) {
		const message = { deployment_id: deployment, conversation_id, content: 'x'.repeat(8_000) };
		await call(server, 'POST', '/api/v1/messages', message);
	}
}
