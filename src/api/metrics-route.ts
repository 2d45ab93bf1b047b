import type { Route, RouteResponse } from '../http/index.ts';
import { type AdmissionOptions, admitCaller } from './admission.ts';

const METRICS_PATH = '/metrics';

/** The figures of the server for programs that watch it. */
export interface MetricsSource {
	readonly contentType: string;
	text(): Promise<string>;
}

/** `GET /metrics` on the public listener: for keys and users with the scope `settings:read`. */
export function metricsRoute(metrics: MetricsSource, options: AdmissionOptions): Route {
	return {
		method: 'GET',
		path: METRICS_PATH,
		isLogSampled: true,
		handle: (request) =>
			admitCaller(
				request,
				(credentials) => options.access.authenticate(credentials),
				async (caller) => {
					options.access.requireScope(caller, 'settings:read');
					return respond(metrics);
				},
				options,
			),
	};
}

/** `GET /metrics` on a listener of its own, which only the operator's network reaches: for everybody. */
export function openMetricsRoute(metrics: MetricsSource): Route {
	return { method: 'GET', path: METRICS_PATH, isLogSampled: true, handle: () => respond(metrics) };
}

async function respond(metrics: MetricsSource): Promise<RouteResponse> {
	return {
		status: 200,
		headers: [
			['content-type', metrics.contentType],
			['cache-control', 'no-store'],
		],
		body: await metrics.text(),
	};
}
