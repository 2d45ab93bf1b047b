import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseFile, openReadOnly } from '../../src/store/sqlite/connection.ts';
import { httpServer, type TestServer } from '../net/servers.ts';
import { piecesOf } from '../support/model-server/script.ts';
import { ModelServer } from '../support/model-server.ts';
import { Random } from '../support/random.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import type { ApiClient } from './api-client.ts';
import { checkServer, type Moment } from './check.ts';
import { Ledger, replyTo } from './ledger.ts';
import { Load, type LoadOptions, type Scene } from './load.ts';

/** The target is a start within two seconds of an idle machine. Processor time does not depend on other work, and this leaves a margin. */
const MAX_START_CPU_MS = 2_500;

/** The figures of rounds. */
export interface Figures {
	rounds: number;
	/** Starts of a server that were checked. */
	starts: number;
	/** Changes that were acknowledged. */
	acknowledged: number;
	/** Values that were compared with the ledger after starts. */
	compared: number;
	/** System calls that failed, kills, damaged files: by name. */
	injected: Record<string, number>;
	refusals: Record<string, number>;
	/** Milliseconds from the start of each process to the line that the server listens. */
	startsMs: number[];
	/** The most processor time of a process until that line (ms). */
	slowestStartCpuMs: number;
	/** The longest wait of a client of a cluster for its answer (ms), by the fault. */
	waits: Record<string, number>;
}

export function noFigures(): Figures {
	return {
		rounds: 0,
		starts: 0,
		acknowledged: 0,
		compared: 0,
		injected: {},
		refusals: {},
		startsMs: [],
		slowestStartCpuMs: 0,
		waits: {},
	};
}

/** The surroundings of one data folder and of the servers that run on it, one after the other. */
export class World implements AsyncDisposable {
	readonly folder: string;
	readonly dataDir: string;
	/** The disk of the data folder, if it has one for itself. */
	readonly disk: ({ folder: string } & AsyncDisposable) | null;
	readonly random: Random;
	readonly ledger: Ledger;
	readonly figures: Figures;
	scene: Scene | null = null;
	/** Whether the folder stays when the round ends, because the round has failed. */
	keepsFolder = false;
	readonly models: ModelServer;
	readonly #receiver: TestServer;
	/** The events that the webhook endpoint has got, by their ids, in the order of their first arrival. */
	readonly #received: Map<string, string>;
	#key: string | undefined;

	private constructor(
		folder: string,
		disk: World['disk'],
		random: Random,
		figures: Figures,
		models: ModelServer,
		receiver: TestServer,
		received: Map<string, string>,
		ledger: Ledger,
	) {
		this.folder = folder;
		this.disk = disk;
		this.dataDir = disk?.folder ?? join(folder, 'data');
		this.random = random;
		this.figures = figures;
		this.models = models;
		this.#receiver = receiver;
		this.#received = received;
		this.ledger = ledger;
	}

	static async create(seed: number, figures: Figures, disk: World['disk'] = null): Promise<World> {
		const folder = await mkdtemp(join(tmpdir(), 'parley-torture-'));
		await mkdir(join(folder, 'data'));
		const models = await ModelServer.start();
		models.setDefault(({ body }) => {
			const question = /question \d+$/.exec(body.messages.at(-1).content)?.[0] ?? 'nothing';
			return piecesOf(replyTo(question), 4).flatMap((say) => [{ say }, { pause: 2 }]);
		});
		const received = new Map<string, string>();
		const ledger = new Ledger();
		const receiver = await httpServer(async (request, response) => {
			const chunks: Buffer[] = [];
			// A kill may cut a request short: then nothing was received.
			try {
				for await (const chunk of request) chunks.push(chunk as Buffer);
			} catch {
				return;
			}
			const text = Buffer.concat(chunks).toString();
			const { id } = JSON.parse(text);
			if ((received.get(id) ?? text) !== text) ledger.faults.push(`The event ${id} was delivered with two bodies.`);
			if (!received.has(id)) received.set(id, text);
			response.writeHead(204).end();
		});
		return new World(folder, disk, new Random(seed), figures, models, receiver, received, ledger);
	}

	/** Starts a server on the data folder, or on a copy of it. */
	async start(options: { env?: Record<string, string>; dataDir?: string; wrapperCommand?: string[] } = {}) {
		const { env, dataDir = this.dataDir, wrapperCommand } = options;
		const server = await startServer({
			dataDir,
			...(this.#key === undefined ? {} : { key: this.#key }),
			...(wrapperCommand === undefined ? {} : { wrapperCommand }),
			env: {
				PARLEY_ALLOW_PRIVATE_NETWORK: '1',
				PARLEY_LOG_LEVEL: 'error',
				PARLEY_PROVIDERS: JSON.stringify([
					{
						id: 'stand-in',
						type: 'openai-compatible',
						base_url: this.models.baseUrl,
						models: [{ name: 'small' }],
					},
				]),
				...env,
			},
		});
		this.#key = server.key;
		this.figures.startsMs.push(server.readyMs);
		this.figures.slowestStartCpuMs = Math.max(this.figures.slowestStartCpuMs, server.readyCpuMs);
		if (server.readyCpuMs > MAX_START_CPU_MS)
			this.ledger.faults.push(`The server took ${server.readyCpuMs} ms of processor time until it was ready.`);
		try {
			this.scene ??= await this.#prepare(server);
			return server;
		} catch (error) {
			await server[Symbol.asyncDispose]();
			throw error;
		}
	}

	/** Clients that use the server until the load is stopped. */
	load(server: ApiClient, options?: LoadOptions): Load {
		return new Load(server, this.ledger, this.sceneOfServers, this.random, options);
	}

	/** Compares what a server shows with the ledger. @throws Error with everything that is wrong */
	async check(server: ApiClient, moment?: Moment): Promise<void> {
		const { compared, faults } = await checkServer(server, this.ledger, this.sceneOfServers, moment);
		this.figures.starts++;
		this.figures.compared += compared;
		throwFaults([...this.ledger.faults, ...faults], server);
	}

	/**
	 * Waits until the endpoint has got each event of the log, and checks the order of those whose first attempt succeeded: after a failed one
	 * later events go on.
	 * @param retriedEvents the ids of events of which an attempt has failed; absent: of the embedded database
	 * @throws Error for a lost event
	 */
	async checkDeliveries(server: ApiClient, retriedEvents = async () => this.#retriedEvents()): Promise<void> {
		const path = '/api/v1/events?types=conversation.updated,message.created&limit=100';
		const logged: Array<{ id: string; conversation: string }> = [];
		for (let cursor = ''; ; ) {
			const { body } = await server.call('GET', path + (cursor && `&cursor=${cursor}`));
			for (const { id, type, data } of body.data)
				logged.push({ id, conversation: type === 'message.created' ? data.conversation_id : data.id });
			cursor = body.next_cursor;
			if (body.data.length < 100) break;
		}
		await until('each event is delivered', () => logged.every(({ id }) => this.#received.has(id)));
		this.count('deliveries', logged.length);
		const order = [...this.#received.keys()];
		const places = new Map(order.map((id, at) => [id, at]));
		const last = new Map<string, number>();
		const retried = await retriedEvents();
		for (const { id, conversation } of logged) {
			if (retried.has(id)) continue;
			const place = places.get(id) as number;
			if (place < (last.get(conversation) ?? -1))
				throw new Error(`The event ${id} was delivered before an earlier one of ${conversation}.`);
			last.set(conversation, place);
		}
	}

	/** The events of which an attempt of the delivery has failed. */
	#retriedEvents(): Set<string> {
		const db = openReadOnly(databaseFile(this.dataDir));
		try {
			return new Set(db.prepare<[], string>('SELECT event_id FROM deliveries WHERE failures > 0').pluck().all());
		} finally {
			db.close();
		}
	}

	/** Adds to the figures of what was injected. */
	count(what: string, number = 1): void {
		this.figures.injected[what] = (this.figures.injected[what] ?? 0) + number;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.figures.acknowledged += this.ledger.acknowledged;
		for (const [code, count] of this.ledger.refusals)
			this.figures.refusals[code] = (this.figures.refusals[code] ?? 0) + count;
		await this.models[Symbol.asyncDispose]();
		await this.#receiver[Symbol.asyncDispose]();
		if (this.keepsFolder) {
			if (this.disk !== null) await cp(this.dataDir, join(this.folder, 'data'), { recursive: true });
		} else await rm(this.folder, { recursive: true, force: true });
	}

	/** @throws Error before the first start */
	get sceneOfServers(): Scene {
		if (this.scene === null) throw new Error('No server was started.');
		return this.scene;
	}

	async #prepare(server: ServerProcess): Promise<Scene> {
		const made = async (path: string, body: object) => {
			const answer = await server.call('POST', path, body);
			if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
			return answer.body;
		};
		const assistant = await made('/api/v1/assistants', { name: 'Scene', model: 'stand-in/small' });
		const deployment = await made('/api/v1/deployments', {
			assistant_id: assistant.id,
			rate_limit: { messages_per_minute: 1_000 },
		});
		const knowledgeBase = await made('/api/v1/knowledge-bases', { name: 'Scene' });
		const events = ['conversation.updated', 'message.created'];
		await made('/api/v1/webhooks', { url: `${this.#receiver.origin}/hook`, events });
		return { deployment: deployment.id, knowledgeBase: knowledgeBase.id };
	}
}

/** @throws Error with the faults and the server's output, if there are any */
export function throwFaults(faults: readonly string[], server?: Pick<ServerProcess, 'output'>): void {
	if (faults.length === 0) return;
	const more = faults.length > 10 ? [`and ${faults.length - 10} more`] : [];
	throw new Error([...faults.slice(0, 10), ...more, server?.output() ?? ''].join('\n'));
}
