import { createHash } from 'node:crypto';
import { clientNetwork } from '../base/index.ts';

/**
 * A short name for a visitor, never that of another one: by the token's subject, else by the client address.
 * @param subject the subject of a verified token; null where the deployment requires none
 */
export function visitorKey(subject: string | null, address: string): string {
	// A subject may be long, and be made of anything: its hash is neither.
	return subject === null
		? `address ${clientNetwork(address)}`
		: `subject ${createHash('sha256').update(subject).digest('base64url')}`;
}
