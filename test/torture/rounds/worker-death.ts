import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';
import type { ServerProcess } from '../../support/server-process.ts';
import { until } from '../../support/until.ts';
import type { World } from '../world.ts';
import { finish } from './kill.ts';
import { readyOrEnded } from './readiness.ts';
import type { Round } from './round.ts';

const INSPECTED = ['/bin/sh', '-c', 'exec "$0" --inspect=127.0.0.1:0 "$@"'];
const MAX_DELAY_MS = 500;

/** The parsing process is killed, or threads end: of the searches, of the embedder, or of the writer, with which the server ends. */
export const workerDeath: Round = {
	name: 'worker-death',
	summary: 'the parsing process is killed, or a thread of the server ends, under load',
	repeats: { short: 2, long: 8 },
	rounds: 3,
	skip: () => (process.env.PARLEY_BINARY === undefined ? false : 'skipped: the executable has no inspector'),
	async run(world, repeats) {
		for (let at = 0; at < repeats; at++) {
			await using server = await world.start({ wrapperCommand: INSPECTED });
			if (at > 0) await world.check(server);
			const load = world.load(server);
			const before = world.ledger.acknowledged;
			await until('a change is acknowledged', () => world.ledger.acknowledged > before);
			await sleep(world.random.between(0, MAX_DELAY_MS));
			if (at % 4 === 1) killChildren(world, server);
			else {
				const threads = await Threads.of(server);
				const title = world.random.pick(threads.titles as [string, ...string[]]);
				await threads.end(title);
				world.count(`ended threads: ${title}`);
			}
			await sleep(world.random.between(0, MAX_DELAY_MS));
			// The end of the writer ends the server; after another one it works on.
			await readyOrEnded(server);
			await server.kill();
			await load.stop();
		}
		await finish(world);
	},
};

function killChildren(world: World, { pid }: ServerProcess): void {
	for (const thread of readdirSync(`/proc/${pid}/task`)) {
		const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
		for (const child of children.split(' ').filter(Boolean)) {
			process.kill(Number(child), 'SIGKILL');
			world.ledger.hasKilledParsers = true;
			world.count('killed parsing processes');
		}
	}
}

/** The threads of a server, by Node's inspector. */
class Threads {
	readonly #socket: WebSocket;
	/** Session of the inspector by the thread's title. */
	readonly #sessions = new Map<string, string>();

	private constructor(socket: WebSocket) {
		this.#socket = socket;
	}

	static async of(server: ServerProcess): Promise<Threads> {
		const url = /ws:\/\/\S+/.exec(server.output())?.[0] ?? assert.fail(server.output());
		const socket = new WebSocket(url);
		await once(socket, 'open');
		const threads = new Threads(socket);
		socket.addEventListener('message', ({ data }) => {
			const { method, params } = JSON.parse(String(data));
			if (method !== 'NodeWorker.attachedToWorker') return;
			const { url: script, title } = params.workerInfo;
			threads.#sessions.set(`${script || title}`.replace(/^.*\//, ''), params.sessionId);
		});
		threads.#send('NodeWorker.enable', { waitForDebuggerOnStart: false });
		await until('a thread is found', () => threads.#sessions.size > 0);
		// The other threads follow; there is no event behind the last of them.
		await sleep(200);
		return threads;
	}

	get titles(): string[] {
		return [...this.#sessions.keys()];
	}

	/** In a thread, `process.exit` ends the thread alone. */
	async end(title: string): Promise<void> {
		const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: 'process.exit(1)' } });
		this.#send('NodeWorker.sendMessageToWorker', { sessionId: this.#sessions.get(title), message });
		await sleep(50);
		this.#socket.close();
	}

	#send(method: string, params: object): void {
		this.#socket.send(JSON.stringify({ id: 1, method, params }));
	}
}
