import { readFileSync } from 'node:fs';
import type { ServerProcess } from '../../test/support/server-process.ts';
import { settledMemory } from '../load/memory.ts';
import type { HeldStreams } from '../load/streams.ts';
import { type Figure, once } from '../report/figure.ts';
import type { BenchProcesses } from './processes.ts';

/** Files that the server opens for itself, and a reserve. */
const RESERVED_FILES = 200;
const OPEN_TIMEOUT_MS = 90_000;
/** Resident memory of the process for each stream. */
const GOAL_KIB_PER_STREAM = 8;

/**
 * Opens streams, each of another conversation if there are enough, and measures their memory. The server must be a new one: memory
 * that it has used before would be used again and not be measured.
 */
export async function measureIdleStreams(
	server: ServerProcess,
	{ load }: Pick<BenchProcesses, 'load'>,
	wanted: number,
): Promise<Figure> {
	const streams = Math.min(wanted, maxConnectionsOf(server.pid));
	const conversations = await conversationsOf(server, streams);
	const isWhole = streams === wanted && conversations.length === streams;
	const paths = Array.from(
		{ length: streams },
		(_, index) => `/api/v1/conversations/${conversations[index % conversations.length]}/events`,
	);
	const before = await settledMemory(server);
	const started = performance.now();
	const held = (await load.send(
		{
			port: server.port,
			hold: paths,
			headers: [`Authorization: Bearer ${server.key}`, 'Accept: text/event-stream'],
		},
		OPEN_TIMEOUT_MS,
	)) as HeldStreams;
	const openMs = (performance.now() - started) / streams;
	if (held.open < streams) {
		throw new Error(`${held.open} of ${streams} streams are open: ${held.firstFailure}`);
	}
	const after = await settledMemory(server);
	await load.send({ release: true }, OPEN_TIMEOUT_MS);
	const kib = (of: 'rss' | 'heapUsed') => (after[of] - before[of]) / held.open / 1024;
	const onHeap = `${kib('heapUsed').toFixed(1)} KiB of it on the heap`;
	const onTop = `on top of ${Math.round(before.rss / 1024 / 1024)} MiB; opened in ${openMs.toFixed(2)} ms each`;
	return {
		name: `idle streams, ${held.open.toLocaleString('en')}: memory each`,
		unit: 'KiB',
		value: once(kib('rss')),
		// With fewer files, or with shared conversations, the figure would be too low.
		...(isWhole ? { goal: { is: 'at most', bound: GOAL_KIB_PER_STREAM } as const } : {}),
		remark: `${onHeap}, ${onTop}${isWhole ? '' : `; of ${conversations.length} conversations`}`,
	};
}

/** Up to this number of existing conversations. */
async function conversationsOf(server: ServerProcess, wanted: number): Promise<string[]> {
	const ids: string[] = [];
	let cursor: string | null = null;
	do {
		const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
		const { body } = await server.call('GET', `/api/v1/conversations?limit=100${after}`);
		for (const { id } of body.data as { id: string }[]) ids.push(id);
		cursor = body.next_cursor;
	} while (ids.length < wanted && cursor !== null);
	return ids.slice(0, wanted);
}

/** Connections that a process may have. The limit also applies to the process that opens them. */
function maxConnectionsOf(pid: number): number {
	try {
		const limit = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1];
		return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit) - RESERVED_FILES;
	} catch {
		return Number.POSITIVE_INFINITY;
	}
}
