export type { Actor, LoadActor, SelfRef } from './actor.ts';
export { ActorGoneError } from './actor-cell.ts';
export { ActorSystem, type ActorSystemOptions, type SendOptions } from './actor-system.ts';
export { MailboxFullError, type MailboxLane } from './mailbox.ts';
export { type AskOptions, LocalTransport, type SubscriptionStart, type Transport } from './transport.ts';
