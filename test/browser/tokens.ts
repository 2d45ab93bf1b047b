import { createHmac } from 'node:crypto';

const secret = 'a secret of the shop with 32 bytes and more';

/** Settings of a deployment that requires the tokens made here. */
export const TOKENS = { features: { jwt_required: true }, jwt: { algorithm: 'HS256', secret } };

/** A visitor's token that expires after this number of seconds. @param others further claims */
export function tokenFor(sub: string, seconds = 600, others: object = {}): string {
	const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
	const claims = { ...others, sub, name: 'Ada', exp: Math.floor(Date.now() / 1000) + seconds };
	const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
	return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
