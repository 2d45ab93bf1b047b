import { createHash } from 'node:crypto';
import { clientNetwork } from '../base/index.ts';

/**
 * A short key that identifies a visitor: by the token's subject, else by the client network.
 * @param subject the subject of a verified token; null where the deployment requires none
 */
export function visitorKey(subject: string | null, address: string): string {
	// A subject may be long and may have any characters; its hash does not.
	return subject === null
		? `address ${clientNetwork(address)}`
		: `subject ${createHash('sha256').update(subject).digest('base64url')}`;
}
