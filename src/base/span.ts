/** What a span says about its operation. Ids, names and numbers only: no text that a person wrote, and no secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A timed operation of a trace: see OpenTelemetry's specification of tracing. */
export interface Span {
	/** The headers `traceparent` and `tracestate` for a request that belongs to this operation (W3C Trace Context); empty if it is not traced. */
	readonly headers: Readonly<Record<string, string>>;
	/** Begins a part of this operation. @param kind `client` for a request to another service */
	child(name: string, kind?: 'internal' | 'client'): Span;
	/** Adds attributes. After the end it has no effect. */
	set(attributes: SpanAttributes): void;
	/** Ends the operation; again: no effect. @param error why it failed */
	end(error?: unknown): void;
}

/** The span of an operation that is not traced. */
export const NO_SPAN: Span = Object.freeze({
	headers: Object.freeze({}),
	child: () => NO_SPAN,
	set() {},
	end() {},
});

/** Runs a part of an operation in a span of its own, which ends with it. */
export function inSpan<T>(span: Span, run: (span: Span) => Promise<T>): Promise<T> {
	return span === NO_SPAN ? run(span) : endingWith(span, run);
}

async function endingWith<T>(span: Span, run: (span: Span) => Promise<T>): Promise<T> {
	try {
		const result = await run(span);
		span.end();
		return result;
	} catch (error) {
		span.end(error);
		throw error;
	}
}
