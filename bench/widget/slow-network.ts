import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Socket } from 'node:net';

/** Properties of the line. */
export interface NetworkProfile {
	roundTripMs: number;
	/** Download rate of all connections together. */
	bytesPerSecond: number;
}

/** A proxy to a server on this machine that is as slow as a phone's connection. */
export interface SlowNetwork extends AsyncDisposable {
	url: string;
	/** Bytes downloaded since the last call, headers included. */
	bytes(): number;
}

/** Starts a proxy. A new connection takes a round trip too, as it does without TLS. */
export async function openSlowNetwork(
	port: number,
	{ roundTripMs, bytesPerSecond }: NetworkProfile,
): Promise<SlowNetwork> {
	const sockets = new Set<Socket>();
	let freeAt = 0;
	let bytes = 0;
	const server = createServer((near) => {
		const far = createConnection(port, '127.0.0.1');
		const openAt = performance.now() + roundTripMs;
		forward(near, far, () => Math.max(openAt, performance.now()) + roundTripMs / 2);
		forward(far, near, (chunk) => {
			bytes += chunk.length;
			freeAt = Math.max(freeAt, performance.now()) + (chunk.length / bytesPerSecond) * 1000;
			return freeAt + roundTripMs / 2;
		});
		for (const socket of [near, far]) {
			sockets.add(socket.setNoDelay(true));
			socket.on('close', () => sockets.delete(socket));
		}
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		bytes() {
			const counted = bytes;
			bytes = 0;
			return counted;
		},
		async [Symbol.asyncDispose]() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** Forwards chunks in order, each at its time. */
function forward(from: Socket, to: Socket, arrival: (chunk: Buffer) => number): void {
	let last = Promise.resolve();
	from.on('data', (chunk) => {
		const at = arrival(chunk as Buffer);
		last = last
			.then(() => new Promise<void>((resolve) => setTimeout(resolve, at - performance.now())))
			.then(() => void to.write(chunk));
	});
	from.on('error', () => to.destroy());
	from.on('close', () => void last.then(() => to.end()));
}
