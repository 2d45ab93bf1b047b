import { type AddressInfo, createServer, isIP, type LookupFunction, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * A listener on every address of this machine, at one port, and a watch on every socket that this thread opens: one that
 * leads neither to the canary nor to where it may is noted, and never opened. So nothing leaves the machine, even where
 * what is tested fails.
 */
export interface Canary extends AsyncDisposable {
	port: number;
	/** What was connected to, or would have been, each as `address:port`. */
	readonly seen: readonly string[];
	/** Lets connections to a port of this machine through, unseen. */
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
		// Both families; where there is no IPv6, all of IPv4.
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

/** What `connect` was given, in whichever of its ways; node:net hands its own options on in an array. */
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

/** What this machine is called by on its networks. */
export function interfaceAddresses(): string[] {
	return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}
