import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PeriodicTask } from '../../src/base/index.ts';

const CHECK_MS = 100;

/** A load balancer that asks each node whether it is ready, as HAProxy, Caddy and Kubernetes do. */
export interface Balancer extends AsyncDisposable {
	url: string;
	/** Ready nodes get requests from the next check on. */
	add(port: number): Promise<void>;
	remove(port: number): void;
}

/**
 * Starts it. Ready nodes get requests in turn, each on a connection of its own. A request is sent to the next node only where the first
 * one could not be reached; where the first one breaks off, the client's connection is reset.
 */
export async function startBalancer(): Promise<Balancer> {
	const nodes = new Map<number, { isReady: boolean }>();
	let turn = 0;
	const check = async (port: number) => {
		const state = nodes.get(port);
		const ready = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(10_000) }).then(
			async (response) => {
				await response.text();
				return response.ok;
			},
			() => false,
		);
		if (state !== undefined) state.isReady = ready;
	};
	const checks = new PeriodicTask({
		intervalMs: CHECK_MS,
		run: async () => void (await Promise.all([...nodes.keys()].map(check))),
		onFailure: () => {},
	});
	checks.start();
	const server = createServer((incoming, response) => {
		const chunks: Buffer[] = [];
		incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
		incoming.on('end', () => {
			const ready = [...nodes].filter(([, { isReady }]) => isReady).map(([port]) => port);
			turn++;
			const order = ready.map((_, index) => ready[(index + turn) % ready.length] as number);
			forward(incoming, Buffer.concat(chunks), response, order);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		add(port) {
			nodes.set(port, { isReady: false });
			return check(port);
		},
		remove: (port) => void nodes.delete(port),
		async [Symbol.asyncDispose]() {
			await checks[Symbol.asyncDispose]();
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

function forward(incoming: IncomingMessage, body: Buffer, response: ServerResponse, ports: number[]): void {
	const [port, ...others] = ports;
	if (port === undefined) return void response.writeHead(502).end();
	const { method, url: path, headers } = incoming;
	const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
	outgoing.on('response', (answer) => {
		response.writeHead(answer.statusCode as number, answer.headers);
		answer.pipe(response);
		answer.on('error', () => response.destroy());
	});
	outgoing.on('error', (error: NodeJS.ErrnoException) => {
		if (error.code === 'ECONNREFUSED') forward(incoming, body, response, others);
		else response.destroy();
	});
	response.on('close', () => outgoing.destroy());
	outgoing.end(body);
}
