import {
	type Context,
	DiagLogLevel,
	diag,
	type Span as OtelSpan,
	ROOT_CONTEXT,
	SpanKind,
	SpanStatusCode,
	type TextMapGetter,
	type Tracer,
	trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import {
	AppError,
	type Log,
	NO_SPAN,
	type Span,
	type SpanAttributes,
	ThrottledLog,
	withDeadline,
} from '../base/index.ts';
import type { IncomingRequest, RequestObserver, RequestTracer } from '../http/index.ts';
import type { TracingSettings } from './environment.ts';
import { samplerFor } from './sampler.ts';

/** How long the last spans may take to be sent when the server stops (ms). */
const SHUTDOWN_MS = 3_000;
/** Characters of an attribute's value. */
const MAX_VALUE_CHARACTERS = 200;
/** Methods that name a span. A client may send any word. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const propagator = new W3CTraceContextPropagator();
const headersOfRequest: TextMapGetter<IncomingRequest> = {
	keys: () => [],
	get: (request, name) => request.header(name),
};

type ExchangeEnd = Parameters<RequestObserver['onExchangeEnd']>;

/** Sends the spans of requests, and of what they cause, to a collector of OpenTelemetry. */
export class Tracing implements RequestTracer, RequestObserver, AsyncDisposable {
	readonly readsAddress = false;
	readonly #provider: TracerProvider;
	readonly #tracer: Tracer;

	constructor(settings: TracingSettings, { version, log }: { version: string; log: Log }) {
		reportProblems(log);
		const exporter = new OTLPTraceExporter();
		this.#provider = new TracerProvider({
			resource: defaultResource()
				.merge(resourceFromAttributes({ 'service.name': 'parley', 'service.version': version }))
				.merge(detectResources({ detectors: [envDetector] })),
			sampler: samplerFor(settings),
			spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARACTERS },
			spanProcessors: [
				new BatchSpanProcessor({
					exporter,
					scheduledDelayMillis: settings.scheduleDelayMs,
					maxQueueSize: settings.maxQueueSize,
					maxExportBatchSize: settings.maxBatchSize,
					exportTimeoutMillis: settings.exportTimeoutMs,
				}),
			],
		});
		this.#tracer = this.#provider.getTracer('parley', version);
	}

	/**
	 * The span of a request, which began when the request arrived. It continues the client's trace only where the request says so: the
	 * client is then a program with a valid key. Routes with very many requests have no spans.
	 */
	beginRequest(request: IncomingRequest): Span {
		if (request.sampled) return NO_SPAN;
		const parent = request.continuesTrace ? propagator.extract(ROOT_CONTEXT, request, headersOfRequest) : ROOT_CONTEXT;
		const method = METHODS.has(request.method) ? request.method : '_OTHER';
		const span = this.#tracer.startSpan(
			`${method === '_OTHER' ? 'HTTP' : method} ${request.route ?? ''}`.trim(),
			{
				kind: SpanKind.SERVER,
				startTime: request.startedAt,
				attributes: {
					'http.request.method': method,
					...(request.route === null ? {} : { 'http.route': request.route }),
					'parley.request_id': request.id,
				},
			},
			parent,
		);
		return span.isRecording() ? new TracedSpan(this.#tracer, span, parent) : new UnsampledSpan(span);
	}

	onExchangeEnd(...[request, response, , outcome]: ExchangeEnd): void {
		const { span } = request;
		const status = response === null ? null : 'status' in response ? response.status : 200;
		if (status !== null) span.set({ 'http.response.status_code': status });
		if (outcome !== 'completed') span.set({ 'parley.outcome': outcome });
		const code = response !== null && 'error' in response ? response.error?.code : undefined;
		span.end(status !== null && status >= 500 ? new AppError(code ?? 'internal_error') : undefined);
	}

	/** Sends the spans that wait, for a limited time. */
	async [Symbol.asyncDispose](): Promise<void> {
		// A collector that cannot be reached has been reported, and must not stop the server's stop.
		await withDeadline(
			this.#provider.shutdown(),
			SHUTDOWN_MS,
			() => new Error('The last spans were not sent in time.'),
		).catch(() => {});
		diag.disable();
	}
}

/** A span of a trace that is recorded. Its children are, too: each sampler decides by the trace or by the parent. */
class TracedSpan implements Span {
	readonly #tracer: Tracer;
	readonly #span: OtelSpan;
	readonly #context: Context;

	constructor(tracer: Tracer, span: OtelSpan, parent: Context) {
		this.#tracer = tracer;
		this.#span = span;
		this.#context = trace.setSpan(parent, span);
	}

	get headers(): Readonly<Record<string, string>> {
		return headersOf(this.#context);
	}

	child(name: string, kind: 'internal' | 'client' = 'internal'): Span {
		const options = { kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL };
		return new TracedSpan(this.#tracer, this.#tracer.startSpan(name, options, this.#context), this.#context);
	}

	set(attributes: SpanAttributes): void {
		this.#span.setAttributes(attributes);
	}

	end(error?: unknown): void {
		if (!this.#span.isRecording()) return;
		if (error !== undefined) {
			// The code alone: messages may have what a person wrote.
			const type = error instanceof AppError ? error.code : error instanceof Error ? error.name : 'error';
			this.#span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
		}
		this.#span.end();
	}
}

/** The span of a trace that is not recorded, and all its children. Other services still learn that the trace is not recorded. */
class UnsampledSpan implements Span {
	readonly #span: OtelSpan;

	constructor(span: OtelSpan) {
		this.#span = span;
	}

	get headers(): Readonly<Record<string, string>> {
		return headersOf(trace.setSpan(ROOT_CONTEXT, this.#span));
	}

	child(): Span {
		return this;
	}

	set(): void {}

	end(): void {}
}

function headersOf(context: Context): Record<string, string> {
	const headers: Record<string, string> = {};
	propagator.inject(context, headers, { set: (carrier, name, value) => (carrier[name] = value) });
	return headers;
}

/** Writes what the library reports, such as a collector that cannot be reached, to the log. */
function reportProblems(log: Log): void {
	const throttled = new ThrottledLog(log);
	const warn = (message: string) =>
		throttled.warn('traces', { problem: message.slice(0, 500) }, 'traces could not be sent');
	const ignore = () => {};
	diag.setLogger(
		{ error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
		{ logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
	);
}
