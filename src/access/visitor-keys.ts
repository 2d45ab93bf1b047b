import { webcrypto } from 'node:crypto';
import { type CryptoKey, importSPKI } from 'jose';
import type { SecretBox } from '../base/index.ts';
import type { DeploymentJwt } from '../contract/index.ts';

/** What the secrets of visitors' tokens are sealed for. */
export const SEAL_PURPOSE = 'visitor tokens';

/** Whether the secret of settings can be opened, or they have none. */
export function canOpenTokenSecret({ secret }: Pick<DeploymentJwt, 'secret'>, secrets: SecretBox): boolean {
	if (secret === null) return true;
	try {
		secrets.open(secret, SEAL_PURPOSE);
		return true;
	} catch {
		return false;
	}
}

/** Whether an RSA key is neither too weak (RFC 7518, 3.3) nor longer than OpenSSL verifies with. */
export function isAllowedRsaLength(bits: number | undefined): boolean {
	return bits !== undefined && bits >= RSA_BITS.least && bits <= RSA_BITS.most;
}
export const RSA_BITS = { least: 2048, most: 16_384 };

/** The keys that deployments hold themselves, each unsealed and imported once. */
export class VisitorKeys {
	readonly #secrets: SecretBox;
	/** By the settings as they are in memory: a change makes new ones, and they go to sleep with their deployment. */
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
