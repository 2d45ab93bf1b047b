import { AppError, type Span, type SpanAttributes } from '../base/index.ts';
import { type EndedSpan, SPAN_KINDS } from './span-message.ts';
import type { SpanQueue } from './span-queue.ts';
import { hexOfSpanId, randomHalf, type SpanId, type TraceContext, traceHeaders } from './trace-context.ts';

/** A trace that is recorded. */
export interface RecordedTrace {
	readonly context: TraceContext;
	/**
	 * What has to be added to `performance.now()` for the milliseconds since 1970. All spans of a trace share it, so that a clock that is
	 * set changes no duration.
	 */
	readonly clockOffset: number;
	readonly queue: SpanQueue;
}

/** A span of a trace that is recorded. Its children are, too. It is small: thousands wait for their export. */
export class RecordedSpan implements Span, EndedSpan {
	readonly trace: RecordedTrace;
	readonly high = randomHalf();
	readonly low = randomHalf();
	readonly parent: SpanId | null;
	readonly name: string;
	readonly kind: EndedSpan['kind'];
	readonly startedAt: number;
	attributes: SpanAttributes | null = null;
	endedAt = 0;
	failed = false;

	/** @param startedAt `performance.now()` */
	constructor(trace: RecordedTrace, name: string, kind: EndedSpan['kind'], startedAt: number, parent: SpanId | null) {
		this.trace = trace;
		this.name = name;
		this.kind = kind;
		this.startedAt = startedAt;
		this.parent = parent;
	}

	get headers(): Readonly<Record<string, string>> {
		return traceHeaders(this.trace.context, hexOfSpanId(this));
	}

	child(name: string, kind: 'internal' | 'client' = 'internal'): Span {
		return new RecordedSpan(this.trace, name, SPAN_KINDS[kind], performance.now(), this);
	}

	set(attributes: SpanAttributes): void {
		if (this.endedAt !== 0) return;
		this.attributes = this.attributes === null ? attributes : { ...this.attributes, ...attributes };
	}

	end(error?: unknown): void {
		if (this.endedAt !== 0) return;
		if (error !== undefined) {
			// The code alone: messages may have what a person wrote.
			this.set({
				'error.type': error instanceof AppError ? error.code : error instanceof Error ? error.name : 'error',
			});
			this.failed = true;
		}
		this.endedAt = performance.now();
		this.trace.queue.add(this);
	}
}
