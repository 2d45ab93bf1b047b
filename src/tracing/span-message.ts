import type { SpanAttributes } from '../base/index.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import type { SpanId, TraceContext } from './trace-context.ts';

/** A span's kind, as in OTLP. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;

/** `Status.StatusCode` of a span that failed. */
const STATUS_ERROR = 2;
/** `SpanFlags`: whether the parent is of another process is known. */
const KNOWS_REMOTE_PARENT = 0x100;
/** `SpanFlags`: the parent is of another process. */
const HAS_REMOTE_PARENT = 0x200;
const NANOSECONDS = 1e6;
/** Characters of the value of a span's attribute. */
const MAX_VALUE_CHARACTERS = 200;
const INITIAL_BYTES = 16 * 1024;

/** A span that has ended. */
export interface EndedSpan extends SpanId {
	readonly trace: { readonly context: TraceContext; readonly clockOffset: number };
	/** null: the first span of its trace. */
	readonly parent: SpanId | null;
	readonly name: string;
	readonly kind: (typeof SPAN_KINDS)[keyof typeof SPAN_KINDS];
	/** Milliseconds; with the trace's `clockOffset` since 1970. */
	readonly startedAt: number;
	readonly endedAt: number;
	readonly attributes: SpanAttributes | null;
	readonly failed: boolean;
}

/** Writes a span as an element of `ScopeSpans.spans` (https://github.com/open-telemetry/opentelemetry-proto, trace/v1/trace.proto). */
function writeSpan(writer: ProtobufWriter, span: EndedSpan): void {
	const { context, clockOffset } = span.trace;
	const message = writer.begin(2);
	writer.hex(1, context.traceId);
	writeId(writer, 2, span);
	if (context.traceState !== undefined) writer.text(3, context.traceState.serialize());
	if (span.parent !== null) writeId(writer, 4, span.parent);
	writer.text(5, span.name);
	writer.number(6, span.kind);
	writer.fixed64(7, (span.startedAt + clockOffset) * NANOSECONDS);
	writer.fixed64(8, (span.endedAt + clockOffset) * NANOSECONDS);
	for (const name in span.attributes) {
		const value = span.attributes[name];
		writeAttribute(writer, 9, name, typeof value === 'string' ? value.slice(0, MAX_VALUE_CHARACTERS) : value);
	}
	if (span.failed) {
		const status = writer.begin(15);
		writer.number(3, STATUS_ERROR);
		writer.end(status);
	}
	writer.fixed32(
		16,
		context.traceFlags |
			KNOWS_REMOTE_PARENT |
			(span.kind === SPAN_KINDS.server && span.parent !== null ? HAS_REMOTE_PARENT : 0),
	);
	writer.end(message);
}

function writeId(writer: ProtobufWriter, field: number, { high, low }: SpanId): void {
	const mark = writer.begin(field);
	writer.int32BigEndian(high);
	writer.int32BigEndian(low);
	writer.end(mark);
}

function writeAttribute(writer: ProtobufWriter, field: number, name: string, value: unknown): void {
	const pair = writer.begin(field);
	writer.text(1, name);
	const any = writer.begin(2);
	if (typeof value === 'boolean') writer.number(2, value ? 1 : 0);
	else if (typeof value !== 'number') writer.text(1, String(value));
	else if (Number.isSafeInteger(value) && value >= 0) writer.number(3, value);
	else writer.double(4, value);
	writer.end(any);
	writer.end(pair);
}

/** Who sends the spans: the attributes of the resource, and the version of the instrumentation. */
export interface SpanSource {
	resource: Readonly<Record<string, unknown>>;
	version: string;
}

/** Makes the body of an export (`ExportTraceServiceRequest`). */
export function exportRequestFrom({ resource, version }: SpanSource): (spans: readonly EndedSpan[]) => Buffer {
	let capacity = INITIAL_BYTES;
	return (spans) => {
		const writer = new ProtobufWriter(capacity);
		const resourceSpans = writer.begin(1);
		const source = writer.begin(1);
		for (const [name, value] of Object.entries(resource)) writeAttribute(writer, 1, name, value);
		writer.end(source);
		const scopeSpans = writer.begin(2);
		const scope = writer.begin(1);
		writer.text(1, 'parley');
		writer.text(2, version);
		writer.end(scope);
		for (const span of spans) writeSpan(writer, span);
		writer.end(scopeSpans);
		writer.end(resourceSpans);
		// The next one is about as long.
		capacity = Math.max(INITIAL_BYTES, Math.ceil(writer.length * 1.2));
		return writer.finish();
	};
}
