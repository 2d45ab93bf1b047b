import { type AddressInfo, createServer, isIP, type LookupFunction, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * Listens on every address of this machine at one port, and observes every socket that this thread opens. A connection to
 * any other address that is not allowed is recorded and not opened, so nothing leaves the machine even if the tested code
 * fails.
 */
export interface Canary extends AsyncDisposable {
	port: number;
	/** The addresses of all connections, including prevented ones, each as `address:port`. */
	readonly seen: readonly string[];
	/** Allows connections to a port of this machine and does not record them. */
	allow(port: number): void;
}

interface Target {
	host?: string;
	port?: number;
	path?: string;
	lookup?: LookupFunction;
}

export async function startCanary(): Promise<Canary> {
	const seen: string[] = [];
	const sockets = new Set<Socket>();
	const server = createServer((socket) => {
		seen.push(`${socket.localAddress}:${socket.localPort}`);
		sockets.add(socket.on('error', () => {}));
		socket.destroy();
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		// Both families; on a machine without IPv6, all of IPv4.
		server.listen(0, resolve);
	});
	const { port } = server.address() as AddressInfo;
	const allowed = new Set([port]);

	const connect = Socket.prototype.connect as (this: Socket, ...given: unknown[]) => Socket;
	const watched = function (this: Socket, ...given: unknown[]): Socket {
		const target = targetOf(given);
		const refuse = (address: string) => {
			seen.push(`${address}:${target.port}`);
			return Object.assign(new Error(`The test lets nobody connect to ${address}.`), { code: 'ECONNREFUSED' });
		};
		const mayPass = (address: string) => allowed.has(Number(target.port)) && isOfThisMachine(address);
		const { host = 'localhost', lookup } = target;
		if (
			target.path !== undefined ||
			(isIP(host) && !mayPass(host)) ||
			(!isIP(host) && host !== 'localhost' && !lookup)
		) {
			const error = refuse(target.path ?? host);
			process.nextTick(() => this.destroy(error));
			return this;
		}
		if (lookup) {
			target.lookup = (name, options, callback) =>
				lookup(name, options, (error, address, family) => {
					const found = Array.isArray(address) ? address.map((one) => one.address) : [address];
					const barred = error ? undefined : found.find((one) => !mayPass(one));
					if (barred === undefined) callback(error, address as string, family);
					else callback(refuse(barred), '', family);
				});
		}
		return connect.apply(this, given);
	};
	Socket.prototype.connect = watched as typeof Socket.prototype.connect;

	return {
		port,
		seen,
		allow: (port) => void allowed.add(port),
		async [Symbol.asyncDispose]() {
			Socket.prototype.connect = connect as typeof Socket.prototype.connect;
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** The options of `connect` for each of its signatures. node:net passes its own options in an array. */
function targetOf([first, second]: unknown[]): Target {
	if (Array.isArray(first)) return first[0] as Target;
	if (typeof first === 'object' && first !== null) return first as Target;
	if (typeof first === 'string' && Number.isNaN(Number(first))) return { path: first };
	return { port: Number(first), ...(typeof second === 'string' ? { host: second } : {}) };
}

function isOfThisMachine(address: string): boolean {
	const plain = address.replace(/^::ffff:(?=\d)/, '');
	return /^127\./.test(plain) || ['0.0.0.0', '::', ...interfaceAddresses()].includes(plain);
}

/** The addresses of this machine on its networks. */
export function interfaceAddresses(): string[] {
	return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}
