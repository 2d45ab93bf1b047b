export { Placement, type PlacementOptions } from './placement.ts';
export { shardOf } from './shard-of.ts';
