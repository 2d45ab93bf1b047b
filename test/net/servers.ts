import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';

/** A server on a loopback address that counts its connections. Disposal closes them all. */
export interface TestServer extends AsyncDisposable {
	port: number;
	/** `http://127.0.0.1:<port>` */
	origin: string;
	connections: number;
}

/** Starts an HTTP server. */
export function httpServer(listener: RequestListener, host?: string): Promise<TestServer> {
	return listen(createHttpServer(listener), host);
}

/** Starts a TCP server whose protocol the test defines. */
export function tcpServer(onSocket: (socket: Socket) => void, host?: string, port?: number): Promise<TestServer> {
	return listen(createTcpServer(onSocket), host, port);
}

async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<TestServer> {
	const sockets = new Set<Socket>();
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, resolve);
	});
	const address = server.address() as AddressInfo;
	const seen: TestServer = {
		port: address.port,
		origin: `http://${host}:${address.port}`,
		connections: 0,
		async [Symbol.asyncDispose]() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	server.on('connection', (socket: Socket) => {
		seen.connections++;
		sockets.add(socket);
		socket.on('error', () => {});
		socket.on('close', () => sockets.delete(socket));
	});
	return seen;
}
