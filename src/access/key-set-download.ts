import { createLocalJWKSet, importJWK, type JWK, type LocalJWKSet } from 'jose';
import { AppError } from '../base/index.ts';
import type { Network } from '../net/index.ts';
import { isAllowedRsaLength } from './visitor-keys.ts';

/** Downloads key sets. */
export type KeySetSource = Pick<Network, 'download'>;

const MAX_KEY_SET_BYTES = 128 * 1024;
const MAX_KEYS = 100;

/**
 * Fetches a JSON Web Key Set (RFC 7517) and keeps the keys that can verify a visitor's token. Keys for
 * other algorithms or purposes are skipped.
 * @throws Error where the URL gives no key set
 */
export async function downloadKeySet(source: KeySetSource, url: string, timeoutMs: number): Promise<LocalJWKSet> {
	await using file = await source.download(url, {
		purpose: 'key_set',
		httpsOnly: true,
		timeoutMs,
		maxWireBytes: MAX_KEY_SET_BYTES,
		maxDecodedBytes: MAX_KEY_SET_BYTES,
		headers: { accept: 'application/jwk-set+json, application/json' },
	});
	const chunks: Buffer[] = [];
	for await (const chunk of file.body) chunks.push(chunk);
	const parsed = parseKeys(Buffer.concat(chunks).toString());
	const keys = await Promise.all(parsed.map(toVerificationKey));
	return createLocalJWKSet({ keys: keys.filter((key) => key !== null) });
}

function parseKeys(text: string): unknown[] {
	let set: unknown;
	try {
		set = JSON.parse(text);
	} catch (cause) {
		throw new AppError('unreadable_file', 'The document at this URL is not JSON.', { cause });
	}
	const keys = (set as { keys?: unknown } | null)?.keys;
	if (!Array.isArray(keys))
		throw new AppError('unreadable_file', 'The document at this URL is not a JSON Web Key Set.');
	if (keys.length > MAX_KEYS) throw new AppError('unreadable_file', `The key set has more than ${MAX_KEYS} keys.`);
	return keys;
}

/** The members of a key that verification needs; null where the key cannot verify. */
async function toVerificationKey(given: unknown): Promise<JWK | null> {
	if (typeof given !== 'object' || given === null) return null;
	const { kty, kid, use, alg, key_ops, n, e, crv, x, y, d } = given as JWK;
	// A published private key lets everyone sign.
	if (d !== undefined) return null;
	const jwk = Object.fromEntries(
		Object.entries({ kty, kid, use, alg, key_ops, n, e, crv, x, y }).filter(([, value]) => value !== undefined),
	) as JWK;
	try {
		const key = await importJWK(jwk, kty === 'RSA' ? 'RS256' : 'ES256');
		if (key instanceof Uint8Array) return null;
		const { modulusLength } = key.algorithm as { modulusLength?: number };
		if (kty === 'RSA' && !isAllowedRsaLength(modulusLength)) return null;
		return jwk;
	} catch {
		return null;
	}
}
