import { type Context, ROOT_CONTEXT, type SpanContext, type TextMapGetter, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { IncomingRequest } from '../http/index.ts';

const TWO_TO_32 = 2 ** 32;

const propagator = new W3CTraceContextPropagator();
const headersOfRequest: TextMapGetter<IncomingRequest> = {
	keys: () => [],
	get: (request, name) => request.header(name),
};

/** What the spans of a trace have in common in the headers of W3C Trace Context. */
export type TraceContext = Pick<SpanContext, 'traceId' | 'traceFlags' | 'traceState'>;

/** The id of a span: two halves of 32 bits each, as signed numbers. */
export interface SpanId {
	readonly high: number;
	readonly low: number;
}

/** The context of the caller's span; the root context where the request names none, or a faulty one. */
export function callerContext(request: IncomingRequest): Context {
	return propagator.extract(ROOT_CONTEXT, request, headersOfRequest);
}

/** The headers `traceparent` and `tracestate` for a request that a span makes. @param spanId 16 hexadecimal digits */
export function traceHeaders(
	{ traceId, traceFlags, traceState }: TraceContext,
	spanId: string,
): Record<string, string> {
	const context: SpanContext = { traceId, spanId, traceFlags, ...(traceState === undefined ? {} : { traceState }) };
	const headers: Record<string, string> = {};
	propagator.inject(trace.setSpanContext(ROOT_CONTEXT, context), headers, {
		set: (carrier, name, value) => (carrier[name] = value),
	});
	return headers;
}

/** Half of a random id of a span. It is never 0, because an id of zeros is invalid. */
export function randomHalf(): number {
	return (1 + Math.random() * (TWO_TO_32 - 1)) | 0;
}

export function hexOfSpanId({ high, low }: SpanId): string {
	return hexOf(high) + hexOf(low);
}

/** @param hex 16 hexadecimal digits */
export function spanIdOf(hex: string): SpanId {
	return { high: Number.parseInt(hex.slice(0, 8), 16) | 0, low: Number.parseInt(hex.slice(8), 16) | 0 };
}

function hexOf(half: number): string {
	return (half >>> 0).toString(16).padStart(8, '0');
}
