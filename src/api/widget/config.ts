import { AppError } from '../../base/index.ts';
import { operations } from '../../contract/index.ts';
import type { Deployments, RenderedConfig, VisibleDeployment } from '../../deployments/index.ts';
import {
	HeaderBlock,
	type Headers,
	type HttpRequest,
	matchesEtag,
	type Route,
	type RouteResponse,
} from '../../http/index.ts';
import { widgetCors } from './cors.ts';
import type { VisitorAdmission } from './visitor-admission.ts';

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;
const CONFIG_CACHE = ['cache-control', 'public, max-age=60, stale-while-revalidate=300'] as const;

/** The headers that responses to pages of all origins have in common. */
const CONFIG_BLOCK = new HeaderBlock([JSON_HEADER, CONFIG_CACHE, ...widgetCors.common]);

/**
 * The route of the widget's configuration, the most frequent request: a deployment in memory is answered synchronously, from bytes
 * that were rendered before, without a promise or a closure per request.
 */
export function configRoute(deployments: Deployments, admission: VisitorAdmission): Route {
	const respond = (id: string, deployment: VisibleDeployment, request: HttpRequest): RouteResponse => {
		admission.requireAllowedOrigin(deployment, request);
		deployments.limits.countConfig(id, request.clientAddress);
		return configResponse(deployment.config, request);
	};
	return {
		method: 'GET',
		path: operations.getWidgetConfig.path,
		isLogSampled: true,
		handle(request) {
			const id = requireDeploymentId(request);
			const resident = deployments.peekVisible(id);
			return resident
				? respond(id, resident, request)
				: deployments.visible(id).then((visible) => respond(id, visible, request));
		},
	};
}

/** @throws AppError `invalid_request` */
function requireDeploymentId(request: HttpRequest): string {
	const id = request.queryValue('deployment_id');
	if (id !== null && id !== '') return id;
	throw new AppError('invalid_request', '/deployment_id is required.', {
		details: [{ path: '/deployment_id', message: 'is required' }],
	});
}

function configResponse({ etag, body }: RenderedConfig, request: HttpRequest): RouteResponse {
	const origin = request.header('origin');
	const caching = origin === undefined ? NO_STORE : CONFIG_CACHE;
	if (matchesEtag(request.header('if-none-match'), etag)) {
		return { status: 304, headers: [['etag', etag], caching, ...widgetCors.headers(origin)] };
	}
	if (origin === undefined) {
		return { status: 200, headers: [JSON_HEADER, ['etag', etag], caching, ...widgetCors.headers(origin)], body };
	}
	const headers: Headers = [
		['etag', etag],
		['access-control-allow-origin', origin],
	];
	return { status: 200, headerBlock: CONFIG_BLOCK, headers, body };
}
