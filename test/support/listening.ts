import net from 'node:net';

/** A port of the loopback that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
	const server = net.createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as net.AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	return port;
}

/** Whether something takes connections at a port of the loopback. */
export function isListening(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = net.connect(port, '127.0.0.1');
		const end = (result: boolean) => {
			socket.destroy();
			resolve(result);
		};
		socket.once('connect', () => end(true));
		socket.once('error', () => end(false));
	});
}
