import { webcrypto } from 'node:crypto';
import { type CryptoKey, importSPKI } from 'jose';
import type { SecretBox } from '../base/index.ts';
import type { DeploymentJwt } from '../contract/index.ts';

/** The purpose for which secrets of visitors' tokens are sealed. */
export const SEAL_PURPOSE = 'visitor tokens';

/** Whether the settings' secret can be opened, or they have none. */
export function canOpenTokenSecret({ secret }: Pick<DeploymentJwt, 'secret'>, secrets: SecretBox): boolean {
	if (secret === null) return true;
	try {
		secrets.open(secret, SEAL_PURPOSE);
		return true;
	} catch {
		return false;
	}
}

/** Whether an RSA key is strong enough (RFC 7518, section 3.3) and not longer than OpenSSL supports. */
export function isAllowedRsaLength(bits: number | undefined): boolean {
	return bits !== undefined && bits >= RSA_BITS.least && bits <= RSA_BITS.most;
}
export const RSA_BITS = { least: 2048, most: 16_384 };

/** Keys in the settings of deployments, each opened and imported once. */
export class VisitorKeys {
	readonly #secrets: SecretBox;
	/** By the settings object in memory: a change creates a new object, and passivation of the deployment drops it. */
	readonly #imported = new WeakMap<DeploymentJwt, Promise<CryptoKey>>();

	constructor(secrets: SecretBox) {
		this.#secrets = secrets;
	}

	/** The key of settings that have a secret or a public key. */
	keyFor(settings: DeploymentJwt): Promise<CryptoKey> {
		let key = this.#imported.get(settings);
		if (!key) {
			key = this.#import(settings);
			this.#imported.set(settings, key);
		}
		return key;
	}

	async #import({ algorithm, secret, public_key }: DeploymentJwt): Promise<CryptoKey> {
		if (algorithm !== 'HS256' && public_key !== null) return importSPKI(public_key.trim(), algorithm);
		if (algorithm !== 'HS256' || secret === null) throw new Error(`There is no key for ${algorithm} in the settings.`);
		const bytes = Buffer.from(this.#secrets.open(secret, SEAL_PURPOSE));
		return webcrypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
	}
}
