import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const CHECK_INTERVAL_MS = 500;
const CHECK_TIMEOUT_MS = 1_000;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

interface Backend {
	port: number;
	isUp: boolean;
	/** Connections for the requests of clients. */
	sockets: Set<Socket>;
}

/**
 * A load balancer for HTTP, as operators set one up: round robin over the nodes whose `/readyz` answers, checked every half second with a
 * timeout of a second. A request whose connection is refused goes to the next node. The connections of a node that is down are closed.
 */
export class Balancer implements AsyncDisposable {
	readonly #server: Server;
	readonly #backends: Backend[];
	readonly #stopped = new AbortController();
	#next = 0;

	private constructor(ports: readonly number[]) {
		this.#backends = ports.map((port) => ({ port, isUp: true, sockets: new Set() }));
		this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
		for (const backend of this.#backends) void this.#watch(backend);
	}

	/** Listens on a free port. */
	static async start(ports: readonly number[]): Promise<Balancer> {
		const balancer = new Balancer(ports);
		await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', 4_096, resolve));
		return balancer;
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	/** Whether each node is up. */
	get isWhole(): boolean {
		return this.#backends.every(({ isUp }) => isUp);
	}

	isUp(at: number): boolean {
		return this.#backends[at]?.isUp ?? false;
	}

	/** Another process has taken the place of a node. It gets requests once its check succeeds. */
	replace(at: number, port: number): void {
		const backend = this.#backends[at] as Backend;
		this.#markDown(backend);
		backend.port = port;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#stopped.abort();
		for (const backend of this.#backends) this.#markDown(backend);
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	async #watch(backend: Backend): Promise<void> {
		while (!this.#stopped.signal.aborted) {
			const { port } = backend;
			const isReady = await isReadyAt(port);
			// A node that was replaced meanwhile is checked again.
			if (port === backend.port) {
				if (isReady) backend.isUp = true;
				else this.#markDown(backend);
			}
			await sleep(CHECK_INTERVAL_MS, null, { signal: this.#stopped.signal }).catch(() => {});
		}
	}

	#markDown(backend: Backend): void {
		backend.isUp = false;
		for (const socket of backend.sockets) socket.destroy();
	}

	async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
		outgoing.on('error', () => {});
		try {
			const body = await readBody(incoming);
			for (const backend of this.#candidates()) {
				if (await forward(incoming, body, outgoing, backend)) return;
			}
		} catch {
			// The client has left, or the node's connection broke after the request was sent.
		}
		outgoing.destroy();
	}

	/** The nodes that are up, or all where none is. Each request begins with the next one. */
	#candidates(): Backend[] {
		const first = this.#next++ % this.#backends.length;
		const order = [...this.#backends.slice(first), ...this.#backends.slice(0, first)];
		const up = order.filter(({ isUp }) => isUp);
		return up.length > 0 ? up : order;
	}
}

async function isReadyAt(port: number): Promise<boolean> {
	const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS);
	return new Promise((resolve) => {
		const check = request({ host: '127.0.0.1', port, path: '/readyz', agent: false, signal: timeout }, (response) => {
			response.resume();
			response.on('error', () => {});
			resolve(response.statusCode === 200);
		});
		check.on('error', () => resolve(false));
		check.end();
	});
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of incoming as AsyncIterable<Buffer>) {
		size += chunk.length;
		if (size > MAX_BODY_BYTES) throw new Error('The body is too large for the load balancer of the tests.');
		chunks.push(chunk);
	}
	return Buffer.concat(chunks, size);
}

/**
 * Sends a request to a node and its response to the client.
 * @returns false where the node has refused the connection
 */
function forward(
	{ method, url, headers }: IncomingMessage,
	body: Buffer,
	outgoing: ServerResponse,
	{ port, sockets }: Backend,
): Promise<boolean> {
	return new Promise((resolve, reject) => {
		const sent = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false });
		sent.on('socket', (socket) => {
			sockets.add(socket);
			socket.on('close', () => sockets.delete(socket));
		});
		sent.on('error', (error: NodeJS.ErrnoException) => {
			if (error.code === 'ECONNREFUSED') resolve(false);
			else reject(error);
		});
		sent.on('response', (response) => {
			outgoing.writeHead(response.statusCode as number, response.headers);
			outgoing.flushHeaders();
			response.pipe(outgoing);
			response.on('error', reject);
			response.on('aborted', () => outgoing.destroy());
			response.on('end', () => resolve(true));
		});
		outgoing.on('close', () => {
			if (!outgoing.writableFinished) {
				sent.destroy();
				reject(new Error('The client has left.'));
			}
		});
		sent.end(body);
	});
}
