import { OtherNodeError } from '../base/index.ts';
import type { HttpRequest, Route, RouteResponse } from '../http/index.ts';

/** The id that decides which node handles a request; null: any node does. */
export type ShardKey = (request: HttpRequest) => string | null | Promise<string | null>;

/** How the requests of a route are placed; null: every node handles them all. */
export type ShardKeyOf = (route: Route) => ShardKey | null;

/** The id that a response refuses because another node serves it; null for other responses. */
export function placeElsewhere(response: RouteResponse): string | null {
	return 'error' in response && response.error instanceof OtherNodeError ? response.error.id : null;
}
