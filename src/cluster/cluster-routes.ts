import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../base/index.ts';
import type { HttpRequest, Route, RouteResponse } from '../http/index.ts';
import { CLUSTER_KEY, NOT_THE_OWNER } from './cluster-headers.ts';
import type { Forwarder } from './forwarder.ts';
import type { Placement } from './placement.ts';

/** The id that decides which node handles a request; null: any node does. */
export type ShardKeyOf = (route: Route, request: HttpRequest) => string | null;

/** The routes for clients: a request that belongs to another node is forwarded. */
export function forwardingRoutes(routes: readonly Route[], keyOf: ShardKeyOf, forwarder: Forwarder): Route[] {
	return routes.map((route) => ({
		...route,
		handle: (request) => {
			const key = keyOf(route, request);
			return key === null ? route.handle(request) : forwarder.handle(request, key, () => route.handle(request));
		},
	}));
}

/** The routes for other nodes: only what this node owns, and only with the key of the cluster. */
export function ownedRoutes(
	routes: readonly Route[],
	keyOf: ShardKeyOf,
	{ placement, clusterKey }: { placement: Pick<Placement, 'fenceOf'>; clusterKey: string },
): Route[] {
	const expected = digestOf(clusterKey);
	return routes.map((route) => ({
		...route,
		handle: (request): RouteResponse | Promise<RouteResponse> => {
			const given = request.header(CLUSTER_KEY);
			if (given === undefined || !timingSafeEqual(digestOf(given), expected)) {
				throw new AppError('unauthorized', 'This address is for the nodes of the cluster only.');
			}
			const key = keyOf(route, request);
			if (key === null || placement.fenceOf(key) === null) {
				return { status: 421, headers: [[NOT_THE_OWNER, '1']] };
			}
			return route.handle(request);
		},
	}));
}

function digestOf(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}
