export type { Actor, Load, SelfRef } from './actor.ts';
export { ActorSystem, type ActorSystemOptions, type SendOptions } from './actor-system.ts';
export { ActorGone } from './cell.ts';
export { type Lane, MailboxFull } from './mailbox.ts';
export { LocalPlacement, type Ownership, type Placement, type Unsubscribe } from './placement.ts';
export { type AskOptions, LocalTransport, type StreamPosition, type Transport } from './transport.ts';
