import type { Span } from '../base/index.ts';
import type { IncomingRequest } from './request.ts';

/** Begins the spans of requests. */
export interface RequestTracer {
	/** The span of a request, once its route is known. Called once for each request that needs a span. */
	beginRequest(request: IncomingRequest): Span;
}
