import { createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { type JWK, SignJWT } from 'jose';

type Claims = Record<string, unknown>;

/** A key pair with its public key in the forms that verifiers accept. */
export interface Signer {
	algorithm: 'RS256' | 'ES256';
	/** SPKI. */
	publicPem: string;
	/** The private key as PKCS #8, which settings must reject. */
	privatePem: string;
	/** The public key as a member of a key set. */
	jwk: JWK;
	/** The private key in the same form. */
	privateJwk: JWK;
	sign(claims: Claims, header?: Claims): Promise<string>;
}

/** Generates a key pair and signs with it. */
export function newSigner(algorithm: 'RS256' | 'ES256', kid?: string): Signer {
	const { publicKey, privateKey } =
		algorithm === 'RS256'
			? generateKeyPairSync('rsa', { modulusLength: 2048 })
			: generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const names = kid === undefined ? {} : { kid };
	return {
		algorithm,
		publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
		privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
		jwk: { ...publicKey.export({ format: 'jwk' }), ...names, use: 'sig', alg: algorithm } as JWK,
		privateJwk: { ...privateKey.export({ format: 'jwk' }), ...names, use: 'sig', alg: algorithm } as JWK,
		sign: (claims, header) =>
			new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ: 'JWT', ...names, ...header }).sign(privateKey),
	};
}

/** Signs with a shared secret. */
export function signWithSecret(secret: string, claims: Claims, header: Claims = {}): string {
	return forge({ alg: 'HS256', ...header }, claims, (input) => createHmac('sha256', secret).update(input).digest());
}

/** A token with any header, any payload (text is used unchanged) and any signature. */
export function forge(header: Claims, payload: Claims | string, sign: (input: string) => Buffer): string {
	const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
	const input = `${base64url(JSON.stringify(header))}.${base64url(body)}`;
	return `${input}.${sign(input).toString('base64url')}`;
}

/** Signs as JWS does with any key, also a key that libraries refuse. */
export function signatureOf(key: KeyObject): (input: string) => Buffer {
	return (input) => signBytes('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
}

function base64url(text: string): string {
	return Buffer.from(text).toString('base64url');
}
