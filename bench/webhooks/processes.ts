import { type ServerProcess, startServer } from '../../test/support/server-process.ts';
import { call } from '../load/deploy.ts';
import { type LoadProcess, startLoadProcess } from '../load/load-process.ts';
import { inspectable } from '../load/memory.ts';
import type { ArrivalCount, ReceiverCommand } from './receiver.ts';

const START_TIMEOUT_MS = 15_000;
const ARRIVAL_TIMEOUT_MS = 60_000;

/** The receiver of deliveries. */
export interface Receiver extends Disposable {
	readonly pid: number;
	readonly origin: string;
	/** Resets the count. */
	reset(): Promise<void>;
	/** Waits for a number of deliveries since the reset. @throws Error if they do not arrive */
	expect(count: number): Promise<ArrivalCount>;
}

/** Starts it. */
export async function startReceiver(): Promise<Receiver> {
	const child: LoadProcess<ReceiverCommand, ArrivalCount> = startLoadProcess(new URL('./receiver.ts', import.meta.url));
	const { port } = await child.send({ listen: true }, START_TIMEOUT_MS);
	return {
		pid: child.pid,
		origin: `http://127.0.0.1:${port}`,
		async reset() {
			await child.send({ forget: true }, START_TIMEOUT_MS);
		},
		async expect(count) {
			const arrived = await child.send(
				{ expect: count, withinMs: ARRIVAL_TIMEOUT_MS },
				ARRIVAL_TIMEOUT_MS + START_TIMEOUT_MS,
			);
			if (arrived.count !== count) throw new Error(`${arrived.count} deliveries came, not ${count}.`);
			return arrived;
		},
		[Symbol.dispose]: () => child[Symbol.dispose](),
	};
}

/** Starts the built server, which may deliver to this machine. */
export function startDeliveringServer(dataDir: string, nodeOptions: string[] = []): Promise<ServerProcess> {
	return startServer({
		dataDir,
		env: { PARLEY_ALLOW_PRIVATE_NETWORK: '1' },
		wrapperCommand: inspectable(...nodeOptions),
	});
}

/** Creates conversations. */
export async function converse(server: ServerProcess, deployment_id: string, count: number): Promise<string[]> {
	const ids: string[] = [];
	while (ids.length < count) {
		const body = { deployment_id, content: 'Where is my order?' };
		ids.push((await call(server, 'POST', '/api/v1/messages', body)).conversation_id);
	}
	return ids;
}

/** Registers endpoints for these types; resolves with their paths in the API. */
export async function register(server: ServerProcess, urls: string[], events: string[]): Promise<string[]> {
	const paths: string[] = [];
	for (const url of urls) {
		const { id } = await call(server, 'POST', '/api/v1/webhooks', { url, events });
		paths.push(`/api/v1/webhooks/${id}`);
	}
	return paths;
}

/** Disables or enables endpoints. */
export async function setStatus(server: ServerProcess, paths: string[], status: 'active' | 'disabled'): Promise<void> {
	for (const path of paths) await call(server, 'PATCH', path, { status });
}

/**
 * Calls a function at a fixed rate whether or not earlier calls have ended. @returns the duration of each, from the moment at which it
 * was due (ms)
 */
export async function atRate(
	perSecond: number,
	seconds: number,
	act: (number: number) => Promise<unknown>,
): Promise<number[]> {
	const total = Math.round(perSecond * seconds);
	const startedAt = performance.now();
	const acts: Promise<number>[] = [];
	while (acts.length < total) {
		const due = startedAt + (acts.length * 1000) / perSecond;
		const wait = due - performance.now();
		if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
		acts.push(act(acts.length).then(() => performance.now() - due));
	}
	return Promise.all(acts);
}
