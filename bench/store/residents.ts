import type { ServerProcess } from '../../test/support/server-process.ts';
import { startServer } from '../../test/support/server-process.ts';
import { inspectable, settledMemory } from '../load/memory.ts';
import type { Requester } from '../load/requester.ts';
import { type Figure, once } from '../report/figure.ts';
import type { ManyConversations } from './many-conversations.ts';

/** The number that a server keeps in memory. */
const MAX_RESIDENT = 100_000;
const GOAL_KIB = 3;
const CONNECTIONS = 64;
/** Conversations before the first measurement: the memory of the first requests must not count. */
const WARM_UP_REQUESTS = 2_000;

/**
 * Activates conversations, by a stop request to each without a running reply, and measures their memory in a separate server after
 * garbage collection. Then activates the rest, for which as many others are passivated.
 */
export async function measureResidents(data: ManyConversations, requester: Requester): Promise<Figure[]> {
	const { dataDir, key, conversations } = data;
	await using server = await startServer({ dataDir, key, wrapperCommand: inspectable() });
	// Warms up the server with reads, whose memory must not count as that of conversations.
	await read(server, requester, data, WARM_UP_REQUESTS);
	const before = await settledMemory(server);
	await activate(server, requester, conversations.slice(0, MAX_RESIDENT));
	const full = await settledMemory(server);
	await activate(server, requester, conversations.slice(MAX_RESIDENT));
	const beyond = await settledMemory(server);
	const each = (from: number, to: number) => (to - from) / 1024 / MAX_RESIDENT;
	const further = conversations.length - MAX_RESIDENT;
	return [
		{
			name: `memory of a resident conversation, of ${MAX_RESIDENT.toLocaleString('en')}`,
			unit: 'KiB',
			value: once(each(before.rss, full.rss)),
			goal: { is: 'at most', bound: GOAL_KIB },
			remark: `of the process; of its JavaScript heap ${each(before.heapUsed, full.heapUsed).toFixed(2)} KiB; as many as are kept`,
		},
		{
			name: `heap added by ${further.toLocaleString('en')} more`,
			unit: 'MiB',
			value: once((beyond.heapUsed - full.heapUsed) / 1024 / 1024),
			remark: 'those not used for longest are put to sleep',
		},
	];
}

function activate(server: ServerProcess, requester: Requester, ids: string[]): Promise<unknown> {
	const requests = ids.map((id) => ({ method: 'POST', path: `/api/v1/conversations/${id}/stop` }));
	return requester.run(server, { requests, connections: CONNECTIONS });
}

function read(server: ServerProcess, requester: Requester, data: ManyConversations, count: number): Promise<unknown> {
	const requests = data.conversations
		.slice(0, count)
		.map((id) => ({ method: 'GET', path: `/api/v1/conversations/${id}/messages` }));
	return requester.run(server, { requests, connections: CONNECTIONS });
}
