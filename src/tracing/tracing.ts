import { ROOT_CONTEXT, SpanKind, TraceFlags, trace } from '@opentelemetry/api';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { RandomIdGenerator, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace';
import {
	AppError,
	boundedErrorText,
	type Log,
	messageOf,
	NO_SPAN,
	type Span,
	ThrottledLog,
	withDeadline,
} from '../base/index.ts';
import type { IncomingRequest, RequestObserver, RequestTracer } from '../http/index.ts';
import { CollectorClient } from '../net/index.ts';
import type { TracingSettings } from './environment.ts';
import { RecordedSpan, type RecordedTrace } from './recorded-span.ts';
import { samplerFor } from './sampler.ts';
import { exportRequestFrom, SPAN_KINDS } from './span-message.ts';
import { SpanQueue } from './span-queue.ts';
import { callerContext, hexOfSpanId, randomHalf, spanIdOf, type TraceContext, traceHeaders } from './trace-context.ts';

/** How long the last spans may take to be sent when the server stops (ms). */
const SHUTDOWN_MS = 3_000;
/** Methods that name a span. A client may send any word. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type ExchangeEnd = Parameters<RequestObserver['onExchangeEnd']>;

/**
 * Sends the spans of requests, and of what they cause, to a collector of OpenTelemetry. OpenTelemetry's library samples, makes the ids of
 * traces, and reads and writes their headers. Spans are recorded and encoded here: with the library's recorder, a traced message took a
 * fifth more processor time.
 */
export class Tracing implements RequestTracer, RequestObserver, AsyncDisposable {
	readonly readsAddress = false;
	readonly #sampler: Sampler;
	readonly #ids = new RandomIdGenerator();
	readonly #collector: CollectorClient;
	readonly #queue: SpanQueue;

	constructor(settings: TracingSettings, { version, log }: { version: string; log: Log }) {
		const throttled = new ThrottledLog(log);
		const resource = resourceFromAttributes({
			'service.name': 'parley',
			'service.version': version,
			'telemetry.sdk.name': 'parley',
			'telemetry.sdk.language': 'nodejs',
			'telemetry.sdk.version': version,
		}).merge(detectResources({ detectors: [envDetector] }));
		this.#sampler = samplerFor(settings);
		this.#collector = new CollectorClient({
			...settings.exporter,
			headers: { ...settings.exporter.headers, 'user-agent': `parley/${version}` },
		});
		this.#queue = new SpanQueue(
			settings,
			exportRequestFrom({ resource: resource.attributes, version }),
			async (body) => {
				try {
					await this.#collector.send(body);
				} catch (error) {
					const problem = boundedErrorText(messageOf(error));
					throttled.warn('traces', { problem }, 'traces could not be sent');
				}
			},
			() => throttled.warn('spans', {}, 'spans were dropped: too many wait for the collector'),
		);
	}

	/**
	 * The span of a request, which began when the request arrived. It continues the client's trace only where the request says so: the
	 * client is then a program with a valid key. Routes with very many requests have no spans.
	 */
	beginRequest(request: IncomingRequest): Span {
		if (request.sampled) return NO_SPAN;
		const callersContext = request.continuesTrace ? callerContext(request) : ROOT_CONTEXT;
		const caller = trace.getSpanContext(callersContext);
		const traceId = caller?.traceId ?? this.#ids.generateTraceId();
		const method = METHODS.has(request.method) ? request.method : '_OTHER';
		const name = `${method === '_OTHER' ? 'HTTP' : method} ${request.route ?? ''}`.trim();
		const { decision } = this.#sampler.shouldSample(callersContext, traceId, name, SpanKind.SERVER, {}, []);
		const isSampled = decision === SamplingDecision.RECORD_AND_SAMPLED;
		const context: TraceContext = {
			traceId,
			traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
			...(caller?.traceState === undefined ? {} : { traceState: caller.traceState }),
		};
		if (!isSampled) return new UnsampledSpan(context);
		const recorded: RecordedTrace = { context, clockOffset: Date.now() - performance.now(), queue: this.#queue };
		const parent = caller === undefined ? null : spanIdOf(caller.spanId);
		const span = new RecordedSpan(recorded, name, SPAN_KINDS.server, request.startedAt, parent);
		span.set({
			'http.request.method': method,
			...(request.route === null ? {} : { 'http.route': request.route }),
			'parley.request_id': request.id,
		});
		return span;
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
		this.#collector.stopRetrying();
		await withDeadline(
			this.#queue.flush(),
			SHUTDOWN_MS,
			() => new Error('The last spans were not sent in time.'),
		).catch(() => {});
		await this.#collector[Symbol.asyncDispose]();
	}
}

/** The span of a trace that is not recorded, and all its children. Other services still learn that the trace is not recorded. */
class UnsampledSpan implements Span {
	readonly #context: TraceContext;
	readonly #id = { high: randomHalf(), low: randomHalf() };

	constructor(context: TraceContext) {
		this.#context = context;
	}

	get headers(): Readonly<Record<string, string>> {
		return traceHeaders(this.#context, hexOfSpanId(this.#id));
	}

	child(): Span {
		return this;
	}

	set(): void {}

	end(): void {}
}
