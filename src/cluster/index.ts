export { clusterOnly, forwardingRoutes, ownedRoutes } from './cluster-routes.ts';
export { Forwarder, type ForwarderOptions } from './forwarder.ts';
export { Placement, type PlacementOptions } from './placement.ts';
export type { ShardKey, ShardKeyOf } from './shard-key.ts';
export { shardOf } from './shard-of.ts';
export {
	type CountHere,
	VisitorLimitsClient,
	type VisitorLimitsClientOptions,
	visitorLimitRoutes,
} from './visitor-limits.ts';
