import { createHmac } from 'node:crypto';
import type { SecretBox } from '../base/index.ts';

/** The account to which a visitor's replies are charged: a keyed hash, from which neither subject nor address can be guessed. */
export function visitorAccount(secrets: SecretBox, deploymentId: string, visitorKey: string): string {
	const hash = createHmac('sha256', secrets.key('visitor accounts')).update(`${deploymentId} ${visitorKey}`);
	return `${deploymentId}:${hash.digest('base64url').slice(0, 22)}`;
}
