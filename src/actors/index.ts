export type { Actor, SelfRef } from './actor.ts';
export { ActorGoneError } from './actor-cell.ts';
export { ActorSystem, type ActorSystemOptions, type SendOptions } from './actor-system.ts';
export { MailboxFullError, type MailboxLane } from './mailbox.ts';
export { LocalTransport, type Transport } from './transport.ts';
