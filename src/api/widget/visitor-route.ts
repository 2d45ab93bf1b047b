import type { Operation } from '../../contract/index.ts';
import type { HttpRequest, Route, RouteResponse } from '../../http/index.ts';
import { requireWellFormedKey } from '../idempotent-call.ts';
import { inputReader, REPLY_TIMEOUT_MS } from '../pipeline.ts';
import { widgetCors } from './cors.ts';
import type { AdmittedVisitor, VisitorAdmission } from './visitor-admission.ts';

/** A visitor's request that was validated and admitted. */
export interface VisitorRequest extends AdmittedVisitor {
	query: Record<string, string>;
	body: Record<string, unknown>;
	request: HttpRequest;
}

/** What answers an operation of visitors. */
export type VisitorHandler = (visit: VisitorRequest) => Promise<RouteResponse>;

/** A route of visitors: it validates the input, admits the visitor, calls the handler and adds the CORS headers. */
export function visitorRoute(operation: Operation, admission: VisitorAdmission, handle: VisitorHandler): Route {
	const read = inputReader(operation);
	return {
		method: operation.method,
		path: operation.path,
		mayWait: true,
		responseTimeoutMs: REPLY_TIMEOUT_MS,
		async handle(request) {
			requireWellFormedKey(request);
			const query = read.query(request) as Record<string, string>;
			const body = ((await read.body(request)) ?? {}) as Record<string, unknown>;
			const visitor = await admission.admit((body.deployment_id ?? query.deployment_id) as string, request);
			const response = await handle({ ...visitor, query, body, request });
			const corsHeaders = widgetCors.headers(request.header('origin'));
			return { ...response, headers: [...(response.headers ?? []), ...corsHeaders] };
		},
	};
}

/** The route that answers the CORS preflight requests of another one. */
export function preflightRoute({ path }: Route): Route {
	return { method: 'OPTIONS', path, isLogSampled: true, handle: (request) => widgetCors.preflight(request) };
}
