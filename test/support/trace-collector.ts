import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A span as a collector gets it. Ids are in hex; a span without a parent has an empty `parentId`. */
export interface ReceivedSpan {
	traceId: string;
	id: string;
	parentId: string;
	name: string;
	/** 1: internal, 2: server, 3: client. */
	kind: number;
	durationNs: bigint;
	attributes: Record<string, string | number | boolean>;
	failed: boolean;
}

/** A collector of OpenTelemetry: takes spans over OTLP/HTTP in protobuf. */
export interface TraceCollector extends AsyncDisposable {
	readonly url: string;
	readonly spans: ReceivedSpan[];
	/** Attributes of the sender. */
	readonly resource: Record<string, string | number | boolean>;
}

export async function startTraceCollector(): Promise<TraceCollector> {
	const spans: ReceivedSpan[] = [];
	const resource: Record<string, string | number | boolean> = {};
	const server = createServer(async (request, response) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk);
		const bytes = Buffer.concat(chunks);
		const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
		for (const resourceSpans of fieldsOf(body).all(1)) {
			const parts = fieldsOf(resourceSpans);
			for (const sender of parts.all(1)) Object.assign(resource, attributesOf(fieldsOf(sender).all(1)));
			for (const scope of parts.all(2)) spans.push(...fieldsOf(scope).all(2).map(readSpan));
		}
		response.writeHead(request.url === '/v1/traces' ? 200 : 404).end();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		spans,
		resource,
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			server.close();
		},
	};
}

function readSpan(bytes: Buffer): ReceivedSpan {
	const span = fieldsOf(bytes);
	const hex = (field: number) => span.all(field)[0]?.toString('hex') ?? '';
	const status = span.all(15)[0];
	return {
		traceId: hex(1),
		id: hex(2),
		parentId: hex(4),
		name: span.all(5)[0]?.toString() ?? '',
		kind: Number(span.numbers(6)[0]),
		durationNs: (span.numbers(8)[0] as bigint) - (span.numbers(7)[0] as bigint),
		attributes: attributesOf(span.all(9)),
		failed: status !== undefined && fieldsOf(status).numbers(3)[0] === 2n,
	};
}

function attributesOf(pairs: Buffer[]): Record<string, string | number | boolean> {
	const entries = pairs.map((pair) => {
		const fields = fieldsOf(pair);
		const value = fieldsOf(fields.all(2)[0] as Buffer);
		const [text] = value.all(1);
		const [truth] = value.numbers(2);
		return [
			String(fields.all(1)[0]),
			text?.toString() ?? (truth === undefined ? Number(value.numbers(3)[0]) : truth === 1n),
		];
	});
	return Object.fromEntries(entries);
}

/** The fields of a message in the wire format of Protocol Buffers. */
function fieldsOf(bytes: Buffer): { all(field: number): Buffer[]; numbers(field: number): bigint[] } {
	const found: { field: number; value: Buffer | bigint }[] = [];
	let at = 0;
	const take = (length: number): Buffer => {
		at += length;
		return bytes.subarray(at - length, at);
	};
	const readVarint = (): bigint => {
		let value = 0n;
		for (let shift = 0n; ; shift += 7n) {
			const byte = bytes[at++] as number;
			value |= BigInt(byte & 0x7f) << shift;
			if (byte < 0x80) return value;
		}
	};
	while (at < bytes.length) {
		const tag = Number(readVarint());
		const [field, type] = [tag >> 3, tag & 7];
		if (type === 0) found.push({ field, value: readVarint() });
		else if (type === 1) found.push({ field, value: take(8).readBigUInt64LE() });
		else if (type === 5) found.push({ field, value: BigInt(take(4).readUInt32LE()) });
		else if (type === 2) found.push({ field, value: take(Number(readVarint())) });
		else throw new Error(`Unknown wire type ${type}.`);
	}
	const of = (field: number) => found.filter((entry) => entry.field === field).map(({ value }) => value);
	return {
		all: (field) => of(field).filter((value): value is Buffer => typeof value !== 'bigint'),
		numbers: (field) => of(field).filter((value): value is bigint => typeof value === 'bigint'),
	};
}
