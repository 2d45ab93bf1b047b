export { type Notice, Notices } from './notices.ts';
export { Outbox, type OutboxStore } from './outbox.ts';
export { formatPosition, parsePosition, type StreamPosition } from './position.ts';
export type { Delta, PositionedUpdate, StreamEvent, StreamEventData } from './topic.ts';
