import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../base/index.ts';
import type { HttpRequest, Route, RouteResponse } from '../http/index.ts';
import { CLUSTER_KEY, NOT_THE_OWNER } from './cluster-headers.ts';
import type { Forwarder } from './forwarder.ts';
import type { Placement } from './placement.ts';
import { placeElsewhere, type ShardKeyOf } from './shard-key.ts';

/** The routes for clients: a request that belongs to another node is forwarded. */
export function forwardingRoutes(routes: readonly Route[], keyOf: ShardKeyOf, forwarder: Forwarder): Route[] {
	return routes.map((route) => {
		const shardKey = keyOf(route);
		if (shardKey === null) return route;
		return { ...route, handle: (request) => forwarder.handle(request, shardKey, () => route.handle(request)) };
	});
}

/** The routes for other nodes: those that are forwarded, and of these only what this node owns. */
export function ownedRoutes(
	routes: readonly Route[],
	keyOf: ShardKeyOf,
	placement: Pick<Placement, 'fenceOf'>,
): Route[] {
	return routes.flatMap((route) => {
		const shardKey = keyOf(route);
		if (shardKey === null) return [];
		const handle = async (request: HttpRequest): Promise<RouteResponse> => {
			const key = await shardKey(request);
			if (key !== null && placement.fenceOf(key) === null) return notTheOwner(request);
			const response = await route.handle(request);
			return placeElsewhere(response) === null ? response : notTheOwner(request);
		};
		return { ...route, handle };
	});
}

/** Admits only requests with the key of the cluster. */
export function clusterOnly(routes: readonly Route[], clusterKey: string): Route[] {
	const expected = digestOf(clusterKey);
	return routes.map((route) => ({
		...route,
		handle: (request) => {
			const given = request.header(CLUSTER_KEY);
			if (given === undefined || !timingSafeEqual(digestOf(given), expected)) {
				throw new AppError('unauthorized', 'This address is for the nodes of the cluster only.');
			}
			return route.handle(request);
		},
	}));
}

function notTheOwner(request: HttpRequest): RouteResponse {
	request.suppressSpan();
	return { status: 421, headers: [[NOT_THE_OWNER, '1']] };
}

function digestOf(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}
