import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can cut all connections, and later forward to the same or another server. */
export async function startCuttableProxy(first: number) {
	let port = first;
	const sockets = new Set<Socket>();
	let cut = false;
	const server = createServer((near) => {
		if (cut) return void near.resetAndDestroy();
		const far = connect(port, '127.0.0.1');
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
	return {
		url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
		cut() {
			cut = true;
			for (const socket of sockets) socket.resetAndDestroy();
		},
		restore(to = port) {
			port = to;
			cut = false;
		},
		async [Symbol.asyncDispose]() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
