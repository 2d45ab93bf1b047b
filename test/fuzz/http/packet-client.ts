import { connect } from 'node:net';

/** What came back on a connection. */
export interface RawAnswer {
	status: number;
	text: string;
}

/** Sends bytes in packets on a connection of its own and reads one answer with a Content-Length. Status 0: closed without an answer. */
export async function sendPackets(port: number, packets: readonly Uint8Array[]): Promise<RawAnswer> {
	const socket = connect({ port, host: '127.0.0.1', noDelay: true });
	let received = Buffer.alloc(0);
	const answered = new Promise<RawAnswer>((resolve, reject) => {
		socket.on('data', (bytes) => {
			received = Buffer.concat([received, bytes]);
			const answer = wholeAnswer(received.toString());
			if (answer !== null) resolve(answer);
		});
		// A reset behind an answer is an end like others; a refused connection is not.
		socket.on('error', (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED' && reject(error));
		socket.on('close', () => resolve({ status: 0, text: '' }));
	});
	for (const packet of packets) {
		socket.write(packet);
		await new Promise((resolve) => setImmediate(resolve));
	}
	return answered.finally(() => socket.destroy());
}

function wholeAnswer(text: string): RawAnswer | null {
	const end = text.indexOf('\r\n\r\n');
	if (end < 0) return null;
	const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
	const body = Buffer.from(text.slice(end + 4));
	return body.length < length ? null : { status: Number(text.slice(9, 12)), text: body.toString() };
}

/**
 * A POST request of these bytes, cut into packets at places in thousandths of its length. Its first line is not cut: the HTTP library
 * needs it whole (docs/operations.md).
 */
export function postPackets(path: string, contentType: string, body: Uint8Array, cuts: readonly number[]): Buffer[] {
	const line = `POST ${path} HTTP/1.1\r\n`;
	const head = `${line}Host: a\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`;
	const bytes = Buffer.concat([Buffer.from(head, 'latin1'), body]);
	const places = cuts.map((thousandths) => Math.floor((bytes.length * thousandths) / 1000));
	return cutAt(
		bytes,
		places.filter((place) => place >= line.length),
	);
}

/** Bytes cut at places. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
	const sorted = [...places].sort((a, b) => a - b);
	return [...sorted, bytes.length]
		.map((end, at) => bytes.subarray(sorted[at - 1] ?? 0, end))
		.filter(({ length }) => length > 0);
}
