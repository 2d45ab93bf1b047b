export { type FollowOptions, Outbox } from './outbox.ts';
export { formatPosition, parsePosition, type StreamPosition } from './position.ts';
export type { Delta, StreamEvent, StreamEventData, StreamItem } from './topic.ts';
