export { clusterOnly, forwardingRoutes, ownedRoutes, type ShardKey, type ShardKeyOf } from './cluster-routes.ts';
export { Forwarder, type ForwarderOptions } from './forwarder.ts';
export { Placement, type PlacementOptions } from './placement.ts';
export { shardOf } from './shard-of.ts';
