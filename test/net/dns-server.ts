import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The result for a name: addresses, an alias, no such name, a failure of the server, or no response. */
export type Zone = Record<string, DnsRecord[] | 'unknown' | 'failure' | 'silence'>;
export type DnsRecord = { a: string } | { aaaa: string } | { cname: string };

/** A name server of this machine, over UDP. */
export interface DnsServer extends AsyncDisposable {
	/** `127.0.0.1:<port>` */
	address: string;
	/** A test may change it at any time. */
	zone: Zone;
	/** Questions so far, each as `A name` or `AAAA name`. */
	asked: string[];
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 };
const CODES = { unknown: 3, failure: 2 };

/** Responds like a resolver of the internet: it follows a chain of aliases to its end and returns the whole chain. */
export async function startDnsServer(zone: Zone): Promise<DnsServer> {
	const socket = createSocket('udp4');
	socket.on('message', (query, { address, port }) => {
		const { name, end } = nameAt(query, 12);
		const type = query.readUInt16BE(end);
		server.asked.push(`${type === TYPES.AAAA ? 'AAAA' : 'A'} ${name}`);
		const entry = server.zone[name] ?? 'unknown';
		if (entry === 'silence') return;
		const records = typeof entry === 'string' ? [] : chain(server.zone, name, type);
		const head = Buffer.alloc(12);
		query.copy(head, 0, 0, 2);
		head.writeUInt16BE(0x8180 | (typeof entry === 'string' ? CODES[entry] : 0), 2);
		head.writeUInt16BE(1, 4);
		head.writeUInt16BE(records.length, 6);
		socket.send(Buffer.concat([head, query.subarray(12, end + 4), ...records]), port, address);
	});
	socket.bind(0, '127.0.0.1');
	await once(socket, 'listening');
	const server: DnsServer = {
		address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
		zone,
		asked: [],
		async [Symbol.asyncDispose]() {
			await new Promise<void>((resolve) => socket.close(resolve));
		},
	};
	return server;
}

/** The records of a name and of its aliases. */
function chain(zone: Zone, name: string, type: number): Buffer[] {
	const entry = zone[name];
	if (!Array.isArray(entry)) return [];
	return entry.flatMap((record) => {
		if ('cname' in record)
			return [resource(name, TYPES.CNAME, encodedName(record.cname)), ...chain(zone, record.cname, type)];
		if ('a' in record) {
			return type === TYPES.A ? [resource(name, type, Buffer.from(record.a.split('.').map(Number)))] : [];
		}
		return type === TYPES.AAAA ? [resource(name, type, ipv6Bytes(record.aaaa))] : [];
	});
}

function resource(name: string, type: number, data: Buffer): Buffer {
	const fixed = Buffer.alloc(10);
	fixed.writeUInt16BE(type, 0);
	fixed.writeUInt16BE(1, 2);
	fixed.writeUInt16BE(data.length, 8);
	return Buffer.concat([encodedName(name), fixed, data]);
}

function encodedName(name: string): Buffer {
	const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
	return Buffer.concat([...labels, Buffer.from([0])]);
}

function nameAt(bytes: Buffer, start: number): { name: string; end: number } {
	const labels: string[] = [];
	let at = start;
	for (let length = bytes[at]!; length > 0; length = bytes[at]!) {
		labels.push(bytes.toString('latin1', at + 1, at + 1 + length).toLowerCase());
		at += 1 + length;
	}
	return { name: labels.join('.'), end: at + 1 };
}

/** The bytes of an IPv6 address with at most one `::` and no IPv4 part. */
function ipv6Bytes(address: string): Buffer {
	const [before = [], after = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''));
	const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
	return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
