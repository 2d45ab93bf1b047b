export { CANCEL_BATCH_SIZE, Deliverer, type DelivererOptions, retryPatch } from './delivery/index.ts';
export { requireEndpoint } from './endpoint.ts';
export { presentEvent, renderEvent } from './event-body.ts';
export { Pings } from './pings.ts';
export { type Replay, type ReplayDependencies, replayEvents, requireActive } from './replay.ts';
export { type Attempt, Sender, type SenderOptions } from './sender.ts';
export { type SignedDelivery, signatureHeaders } from './sign.ts';
export {
	clearedSecrets,
	isSecretCleared,
	newSigningSecret,
	requireSigningSecret,
	SigningSecrets,
} from './signing-secrets.ts';
