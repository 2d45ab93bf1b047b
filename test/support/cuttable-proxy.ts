import { connect, createServer, type Socket } from 'node:net';

/**
 * A TCP proxy that can cut all connections, later forward to the same or another server, and tell what its clients have received.
 * @param first the port of the server on this machine, or the path of its Unix socket
 */
export async function startCuttableProxy(first: number | string) {
	let target = first;
	const sockets = new Set<Socket>();
	let cut = false;
	/** The bytes for the clients, of each connection. */
	const received: Buffer[][] = [];
	const server = createServer((near) => {
		if (cut) return void near.resetAndDestroy();
		const far = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target);
		const chunks: Buffer[] = [];
		received.push(chunks);
		far.on('data', (chunk) => chunks.push(chunk));
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
			from.pipe(to);
		}
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
		/** What the clients have received on all connections, as text. */
		received: () => received.map((chunks) => Buffer.concat(chunks).toString()).join('\n'),
		async [Symbol.asyncDispose]() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
