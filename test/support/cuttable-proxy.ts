import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/**
 * A TCP proxy that can cut all connections, hold a request back, later forward to the same or another server, and tell what its clients have
 * received.
 * @param first the port of the server on this machine, or the path of its Unix socket
 * @param options.keepsReceived false: what the clients receive is not kept in memory
 */
export async function startCuttableProxy(first: number | string, { keepsReceived = true } = {}) {
	let target = first;
	const sockets = new Set<Socket>();
	let cut = false;
	/** The bytes for the clients, of each connection. */
	const received: Buffer[][] = [];
	/** Requests with this text are held; null: none. */
	let heldText: string | null = null;
	let holdsOne = false;
	/** What goes on when the held requests are released. */
	const held: Array<() => void> = [];
	const holding = () =>
		new Transform({
			transform(chunk: Buffer, _encoding, done) {
				if (heldText === null || !chunk.includes(heldText)) return void done(null, chunk);
				if (holdsOne) heldText = null;
				held.push(() => done(null, chunk));
			},
		});
	const server = createServer((near) => {
		if (cut) return void near.resetAndDestroy();
		const far = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target);
		if (keepsReceived) {
			const chunks: Buffer[] = [];
			received.push(chunks);
			far.on('data', (chunk) => chunks.push(chunk));
		}
		for (const [from, to] of [
			[near, far],
			[far, near],
		] as const) {
			sockets.add(from);
			from.on('error', () => {});
			from.on('close', () => {
				sockets.delete(from);
				to.destroy();
			});
		}
		near.pipe(holding()).pipe(far);
		far.pipe(near);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as { port: number };
	return {
		port,
		url: `http://127.0.0.1:${port}`,
		cut() {
			cut = true;
			// Unix sockets cannot be reset.
			for (const socket of sockets) socket.remoteFamily === undefined ? socket.destroy() : socket.resetAndDestroy();
		},
		restore(to = target) {
			target = to;
			cut = false;
		},
		/** From now on, a connection stops before a request with this text: the server gets it when it is released. */
		hold(text: string) {
			heldText = text;
			holdsOne = false;
		},
		/** The next connection with this text stops without an error, as where the network drops packets. */
		holdOne(text: string) {
			heldText = text;
			holdsOne = true;
		},
		/** Whether a request is held. */
		isHolding: () => held.length > 0,
		release() {
			heldText = null;
			for (const goOn of held.splice(0)) goOn();
		},
		/** What the clients have received on all connections, as text. */
		received: () => received.map((chunks) => Buffer.concat(chunks).toString()).join('\n'),
		async [Symbol.asyncDispose]() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
