import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { fieldsOf } from './protobuf-fields.ts';

/** A span as a collector gets it. Ids are in hex; a span without a parent has an empty `parentId`. */
export interface ReceivedSpan {
	traceId: string;
	id: string;
	parentId: string;
	name: string;
	/** 1: internal, 2: server, 3: client. */
	kind: number;
	/** Since 1970. */
	startedNs: bigint;
	durationNs: bigint;
	/** Empty: none. */
	traceState: string;
	flags: number;
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
		const received = readExport(request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
		Object.assign(resource, received.resource);
		spans.push(...received.spans);
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

/** Reads an `ExportTraceServiceRequest`. */
export function readExport(body: Buffer): { resource: ReceivedSpan['attributes']; spans: ReceivedSpan[] } {
	const resource: ReceivedSpan['attributes'] = {};
	const spans: ReceivedSpan[] = [];
	for (const resourceSpans of fieldsOf(body).all(1)) {
		const parts = fieldsOf(resourceSpans);
		for (const sender of parts.all(1)) Object.assign(resource, attributesOf(fieldsOf(sender).all(1)));
		for (const scope of parts.all(2)) spans.push(...fieldsOf(scope).all(2).map(readSpan));
	}
	return { resource, spans };
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
		startedNs: span.numbers(7)[0] as bigint,
		traceState: span.all(3)[0]?.toString() ?? '',
		flags: Number(span.numbers(16)[0]),
		durationNs: (span.numbers(8)[0] as bigint) - (span.numbers(7)[0] as bigint),
		attributes: attributesOf(span.all(9)),
		failed: status !== undefined && fieldsOf(status).numbers(3)[0] === 2n,
	};
}

function attributesOf(pairs: Buffer[]): Record<string, string | number | boolean> {
	return Object.fromEntries(
		pairs.map((pair) => {
			const fields = fieldsOf(pair);
			return [String(fields.all(1)[0]), readValue(fieldsOf(fields.all(2)[0] as Buffer))];
		}),
	);
}

function readValue(value: ReturnType<typeof fieldsOf>): string | number | boolean {
	const [text] = value.all(1);
	if (text !== undefined) return text.toString();
	const [truth] = value.numbers(2);
	if (truth !== undefined) return truth === 1n;
	const [whole] = value.numbers(3);
	if (whole !== undefined) return Number(whole);
	const bits = Buffer.alloc(8);
	bits.writeBigUInt64LE(value.numbers(4)[0] as bigint);
	return bits.readDoubleLE();
}
