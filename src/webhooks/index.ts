export { type AttemptObserver, CANCEL_BATCH_SIZE, Deliverer, retryPatch } from './delivery/index.ts';
export { DeliveryNotices } from './delivery-notices.ts';
export { requireEndpoint } from './endpoint.ts';
export { presentEvent, renderEvent } from './event-body.ts';
export { Pings } from './pings.ts';
export { presentDelivery } from './present-delivery.ts';
export { replayEvents, requireActive } from './replay.ts';
export { type Attempt, Sender } from './sender.ts';
export { signatureHeaders } from './sign.ts';
export {
	clearedSecrets,
	isSecretCleared,
	newSigningSecret,
	requireSigningSecret,
	SigningSecrets,
} from './signing-secrets.ts';
