import assert from 'node:assert/strict';
import { createHmac, ECDH, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { VisitorTokenSettings, VisitorTokens } from '../../src/access/index.ts';
import { AppError, type Clock, createLog, SecretBox } from '../../src/base/index.ts';
import type { DeploymentJwt, DeploymentJwtPatch } from '../../src/contract/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { forge, newSigner, signatureOf, signWithSecret } from './signers.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const SECOND = NOW / 1000;
const SECRET = 'a secret of the shop, long enough';

const network = createNetwork({ allowPrivateNetwork: false });
const secrets = new SecretBox(randomBytes(32));
const settingsOf = (patch: DeploymentJwtPatch) =>
	new VisitorTokenSettings({ secrets, network }).merge(null, patch) as DeploymentJwt;
const tokensWith = (box: SecretBox, clock: Clock = { now: () => NOW }) =>
	new VisitorTokens({ secrets: box, network, clock, log: createLog('silent') });
const tokens = tokensWith(secrets);

const rsa = newSigner('RS256', 'k1');
const ec = newSigner('ES256', 'k2');
const shared = settingsOf({ algorithm: 'HS256', secret: SECRET });
const rsaSettings = settingsOf({ algorithm: 'RS256', public_key: rsa.publicPem });
const ecSettings = settingsOf({ algorithm: 'ES256', public_key: ec.publicPem });

const GOOD = { sub: 'ann', exp: SECOND + 600 };
const verify = async (settings: DeploymentJwt, token: string) =>
	(await tokens.verify(settings, `Bearer ${token}`)).end_user;

/** Checks that a token is rejected for this reason, with a message that does not quote it. */
async function assertRefused(settings: DeploymentJwt, token: string, reason: RegExp): Promise<void> {
	await assert.rejects(verify(settings, token), (error: unknown) => {
		assert.ok(error instanceof AppError, String(error));
		assert.deepEqual([error.code, error.status], ['invalid_jwt', 401]);
		assert.match(error.message, reason);
		for (const part of token.split('.')) assert.ok(part.length < 5 || !error.message.includes(part));
		return true;
	});
}

test("a token signed by the deployment's settings identifies the visitor", async () => {
	const claims = { ...GOOD, name: 'Ann Bee', email: 'ann@shop.example', role: 'admin' };
	const ann = { id: 'ann', name: 'Ann Bee', email: 'ann@shop.example' };
	assert.deepEqual(await verify(shared, signWithSecret(SECRET, claims)), ann);
	assert.deepEqual(await verify(rsaSettings, await rsa.sign(claims)), ann);
	assert.deepEqual(await verify(ecSettings, await ec.sign(claims)), ann);
	const { end_user } = await tokens.verify(shared, `bearer   ${signWithSecret(SECRET, claims)}  `);
	assert.deepEqual(end_user, ann);
});

test('the secret is the UTF-8 bytes of the setting', async () => {
	const secret = '🗝️ größer als dreißig Bytes 🗝️';
	const settings = settingsOf({ algorithm: 'HS256', secret });
	assert.equal((await verify(settings, signWithSecret(secret, GOOD))).id, 'ann');
});

test('verifies with a public key in any form that the settings accept', async () => {
	const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const der = publicKey.export({ type: 'spki', format: 'der' });
	const point = ECDH.convertKey(der.subarray(-65), 'prime256v1', undefined, undefined, 'compressed') as Buffer;
	// The same head with the lengths of a compressed point.
	const head = Buffer.from(der.subarray(0, der.length - 65));
	head[1] = 0x39;
	head[24] = 0x22;
	const compressed = Buffer.concat([head, point]).toString('base64');
	const explicit = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' });
	const forms: Array<[pem: string, signer: KeyObject]> = [
		[`-----BEGIN PUBLIC KEY-----\n${compressed}\n-----END PUBLIC KEY-----`, privateKey],
		[explicit.publicKey.export({ type: 'spki', format: 'pem' }) as string, explicit.privateKey],
		[` ${(publicKey.export({ type: 'spki', format: 'pem' }) as string).replaceAll('\n', '\r\n')}\n`, privateKey],
	];
	for (const [public_key, signer] of forms) {
		const settings = settingsOf({ algorithm: 'ES256', public_key });
		assert.equal((await verify(settings, forge({ alg: 'ES256' }, GOOD, signatureOf(signer)))).id, 'ann', public_key);
	}
});

test('the deployment sets the algorithm: a token with another one is rejected', async () => {
	const reason = /not signed with (HS256|RS256|ES256)/;
	await assertRefused(shared, await rsa.sign(GOOD), reason);
	await assertRefused(rsaSettings, signWithSecret(SECRET, GOOD), reason);
	await assertRefused(rsaSettings, await ec.sign(GOOD), reason);
	await assertRefused(ecSettings, await rsa.sign(GOOD), reason);
	for (const alg of ['none', 'None', 'NONE', 'hs256', 'HS384', 'HS512', 'PS256', 'RS512', 'EdDSA', 'constructor']) {
		for (const settings of [shared, rsaSettings, ecSettings]) {
			const signed = forge({ alg }, GOOD, (input) => createHmac('sha256', SECRET).update(input).digest());
			await assertRefused(settings, signed, reason);
			await assertRefused(
				settings,
				forge({ alg }, GOOD, () => Buffer.alloc(0)),
				reason,
			);
		}
	}
});

test('rejects a token that is signed with a public key as a shared secret', async () => {
	for (const [settings, { publicPem, algorithm }] of [
		[rsaSettings, rsa],
		[ecSettings, ec],
	] as const) {
		for (const secret of [publicPem, publicPem.trim()]) {
			await assertRefused(settings, signWithSecret(secret, GOOD), /not signed with/);
			await assertRefused(settings, signWithSecret(secret, GOOD, { alg: algorithm }), /signature .* not valid/);
		}
	}
});

test('rejects a token that was signed with another key or altered', async () => {
	const reason = /signature .* not valid/;
	await assertRefused(shared, signWithSecret(`${SECRET}!`, GOOD), reason);
	await assertRefused(rsaSettings, await newSigner('RS256').sign(GOOD), reason);
	await assertRefused(ecSettings, await newSigner('ES256').sign(GOOD), reason);
	const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
	await assertRefused(ecSettings, forge({ alg: 'ES256' }, GOOD, signatureOf(privateKey)), reason);
	await assertRefused(
		shared,
		forge({ alg: 'HS256' }, GOOD, () => Buffer.alloc(0)),
		reason,
	);
	await assertRefused(
		ecSettings,
		forge({ alg: 'ES256' }, GOOD, () => Buffer.alloc(64)),
		reason,
	);
	const [header, , signature] = (await rsa.sign(GOOD)).split('.');
	const other = Buffer.from(JSON.stringify({ ...GOOD, sub: 'bob' })).toString('base64url');
	await assertRefused(rsaSettings, `${header}.${other}.${signature}`, reason);
});

test('rejects a token with any single altered character', async () => {
	const token = signWithSecret(SECRET, GOOD);
	// The last character of the signature has unused bits and is left out.
	const places = fc.integer({ min: 0, max: token.length - 2 });
	await fc.assert(
		fc.asyncProperty(places, fc.constantFrom(...'Aa0_-z'), async (at, character) => {
			fc.pre(token[at] !== character);
			const altered = token.slice(0, at) + character + token.slice(at + 1);
			await assert.rejects(verify(shared, altered), { code: 'invalid_jwt' });
		}),
		{ numRuns: 300 },
	);
});

test('checks the times of a token, with half a minute of tolerance for clocks', async () => {
	const signed = (claims: object) => signWithSecret(SECRET, { ...GOOD, ...claims });
	await verify(shared, signed({ exp: SECOND - 29 }));
	await verify(shared, signed({ nbf: SECOND + 30 }));
	await verify(shared, signed({ iat: SECOND + 86_400 }));
	await assertRefused(shared, signed({ exp: SECOND - 30 }), /expired/);
	await assertRefused(shared, signed({ exp: 0 }), /expired/);
	await assertRefused(shared, signed({ exp: -1e300 }), /expired/);
	await assertRefused(shared, signed({ nbf: SECOND + 31 }), /not valid yet/);
	for (const wrong of ['2030-01-01', `${SECOND + 600}`, null, true, [SECOND + 600], {}]) {
		await assertRefused(shared, signed({ exp: wrong }), /claim exp/);
		await assertRefused(shared, signed({ nbf: wrong }), /claim nbf/);
	}
});

test('a token is valid until the returned millisecond', async () => {
	let now = NOW;
	const moved = tokensWith(secrets, { now: () => now });
	for (const seconds of [600, 600.001, 600.5, 599.999, -29, -29.5, 1e9]) {
		now = NOW + 123;
		const header = `Bearer ${signWithSecret(SECRET, { ...GOOD, exp: SECOND + seconds })}`;
		const { expiresAt } = await moved.verify(shared, header);
		now = expiresAt - 1;
		await moved.verify(shared, header);
		now = expiresAt;
		await assert.rejects(moved.verify(shared, header), { code: 'invalid_jwt', message: /expired/ }, String(seconds));
	}
	const endless = await moved.verify(shared, `Bearer ${signWithSecret(SECRET, { ...GOOD, exp: 1e300 })}`);
	assert.equal(endless.expiresAt, 1e303);
});

test('rejects a token without a subject or an expiry', async () => {
	await assertRefused(shared, signWithSecret(SECRET, { sub: 'ann' }), /lacks the claim exp/);
	await assertRefused(shared, signWithSecret(SECRET, { exp: GOOD.exp }), /lacks the claim sub/);
	const inherited = `{"__proto__":{"sub":"ann"},"exp":${GOOD.exp}}`;
	const sign = (input: string) => createHmac('sha256', SECRET).update(input).digest();
	await assertRefused(shared, forge({ alg: 'HS256' }, inherited, sign), /lacks the claim sub/);
	for (const sub of ['', null, 7, true, ['ann'], { id: 'ann' }, 'x'.repeat(501), 'a\ud800b']) {
		await assertRefused(shared, signWithSecret(SECRET, { ...GOOD, sub }), /claim sub .* 1 to 500/);
	}
	for (const sub of ['x'.repeat(500), '🙂'.repeat(500), ' ', '0', '__proto__']) {
		assert.equal((await verify(shared, signWithSecret(SECRET, { ...GOOD, sub }))).id, sub);
	}
});

test('leaves out a name or an email that is not text or far too long', async () => {
	for (const wrong of ['', null, 7, ['Ann'], { first: 'Ann' }, 'x'.repeat(501), '\udc00']) {
		const token = signWithSecret(SECRET, { ...GOOD, name: wrong, email: wrong });
		assert.deepEqual(await verify(shared, token), { id: 'ann', name: null, email: null });
	}
});

test('stores a name as one readable line and leaves out an invisible one', async () => {
	const named = async (name: string) => (await verify(shared, signWithSecret(SECRET, { ...GOOD, name }))).name;
	assert.equal(await named(' Ann\u0000\n Bee\u009b '), 'Ann Bee');
	for (const blank of [' ', '\u0000', '\r\n']) assert.equal(await named(blank), null, JSON.stringify(blank));
});

test('checks audience and issuer only where the deployment names them', async () => {
	const strict = settingsOf({ algorithm: 'HS256', secret: SECRET, audience: 'chat', issuer: 'https://id.example' });
	const signed = (claims: object) => signWithSecret(SECRET, { ...GOOD, ...claims });
	const right = { aud: 'chat', iss: 'https://id.example' };
	await verify(strict, signed(right));
	await verify(strict, signed({ ...right, aud: ['shop', 'chat'] }));
	await verify(shared, signed({ aud: 'other', iss: 'other' }));
	await assertRefused(strict, signed({ iss: right.iss }), /lacks the claim aud/);
	await assertRefused(strict, signed({ aud: right.aud }), /lacks the claim iss/);
	for (const aud of ['Chat', 'chat ', ['shop'], [], [['chat']], null, { chat: true }]) {
		await assertRefused(strict, signed({ ...right, aud }), /another audience/);
	}
	for (const iss of ['https://id.example/', ['https://id.example'], null]) {
		await assertRefused(strict, signed({ ...right, iss }), /another issuer/);
	}
});

test('rejects a token with an unknown critical extension', async () => {
	const demanding = { crit: ['shop'], shop: true };
	await assertRefused(shared, signWithSecret(SECRET, GOOD, demanding), /crit/);
	await assertRefused(shared, signWithSecret(SECRET, GOOD, { crit: [] }), /well-formed/);
	await assertRefused(shared, signWithSecret(SECRET, GOOD, { crit: ['b64'], b64: false }), /well-formed|signature/);
});

test('ignores keys that a token contains', async () => {
	const stranger = newSigner('RS256');
	const header = { jwk: stranger.jwk, jku: 'http://127.0.0.1:9/jwks', x5u: 'http://127.0.0.1:9/', kid: '../../etc' };
	await assertRefused(rsaSettings, await stranger.sign(GOOD, header), /signature .* not valid/);
	assert.equal((await verify(rsaSettings, await rsa.sign(GOOD, header))).id, 'ann');
});

test('rejects text that is not a token as such', async () => {
	const [header, payload, signature] = signWithSecret(SECRET, GOOD).split('.');
	for (const token of [
		'.',
		'..',
		'...',
		'abc',
		`${header}.${payload}`,
		`${header}.${payload}.${signature}.${signature}`,
		`.${payload}.${signature}`,
		`${payload}.${header}.${signature}`,
		'bnVsbA.bnVsbA.bnVsbA',
		'sk_0123456789',
		Buffer.from(JSON.stringify(GOOD)).toString('base64url'),
	]) {
		await assertRefused(shared, token, /well-formed|Authorization/);
	}
	const sign = (input: string) => createHmac('sha256', SECRET).update(input).digest();
	for (const payloadText of ['', 'null', '[]', '"ann"', '{', '{"sub":"ann"', '\ud800']) {
		await assertRefused(shared, forge({ alg: 'HS256' }, payloadText, sign), /well-formed/);
	}
});

test('tells a request without a token where to send one', async () => {
	await assert.rejects(tokens.verify(shared, undefined), {
		code: 'invalid_jwt',
		message: /Authorization: Bearer <JWT>/,
	});
	const token = signWithSecret(SECRET, GOOD);
	for (const header of [
		'',
		'Bearer',
		'Bearer ',
		token,
		`Basic ${token}`,
		`Bearer ${token}, Bearer ${token}`,
		`Bearer "${token}"`,
	]) {
		await assert.rejects(tokens.verify(shared, header), { code: 'invalid_jwt', message: /Authorization/ });
	}
});

test('rejects a token over 8 KiB without reading it, and reads a slightly smaller one', async () => {
	const padded = (length: number) => signWithSecret(SECRET, { ...GOOD, pad: 'x'.repeat(length) });
	const room = Math.floor(((8192 - padded(0).length) * 3) / 4);
	assert.ok(padded(room - 2).length <= 8192 && padded(room + 4).length > 8192);
	await verify(shared, padded(room - 2));
	await assertRefused(shared, padded(room + 4), /longer than 8192 bytes/);
	await assertRefused(shared, 'A'.repeat(1_000_000), /longer than 8192 bytes/);
});

test('any Authorization header gives an AppError or a visitor, never a defect', async () => {
	const part = fc.oneof(
		fc.base64String().map((text) => text.replaceAll(/[+/=]/g, '_')),
		fc.json().map((text) => Buffer.from(text).toString('base64url')),
		fc
			.record(
				{ alg: fc.constantFrom('HS256', 'RS256'), crit: fc.jsonValue(), kid: fc.jsonValue() },
				{ requiredKeys: ['alg'] },
			)
			.map((header) => Buffer.from(JSON.stringify(header)).toString('base64url')),
	);
	const token = fc.oneof(
		fc.array(part, { maxLength: 4 }).map((parts) => parts.join('.')),
		fc.string({ unit: 'binary' }),
	);
	await fc.assert(
		fc.asyncProperty(token, fc.constantFrom(shared, rsaSettings, ecSettings), async (text, settings) => {
			await assert.rejects(verify(settings, text), { code: 'invalid_jwt' });
		}),
		{ numRuns: 1_000 },
	);
});

test('a deployment without a key admits no visitor', async () => {
	await assert.rejects(tokens.verify(null, `Bearer ${signWithSecret(SECRET, GOOD)}`), { code: 'invalid_jwt' });
	await assert.rejects(tokens.verify(null, `Bearer ${forge({ alg: 'none' }, GOOD, () => Buffer.alloc(0))}`), {
		code: 'invalid_jwt',
	});
});

test('opens a secret once, not with every request, and again after a change', async () => {
	let opened = 0;
	class CountingBox extends SecretBox {
		override open(sealed: string, purpose: string): string {
			opened++;
			return super.open(sealed, purpose);
		}
	}
	const master = randomBytes(32);
	const settings = new VisitorTokenSettings({ secrets: new SecretBox(master), network });
	const first = settings.merge(null, { algorithm: 'HS256', secret: SECRET }) as DeploymentJwt;
	const counting = tokensWith(new CountingBox(master));
	const token = `Bearer ${signWithSecret(SECRET, GOOD)}`;
	await Promise.all(Array.from({ length: 20 }, () => counting.verify(first, token)));
	assert.equal(opened, 1);
	const second = settings.merge(first, { secret: 'another secret, as long as it must be' }) as DeploymentJwt;
	await assert.rejects(counting.verify(second, token), { code: 'invalid_jwt' });
	assert.equal(opened, 2);
});

test("a secret that was sealed by another server is a server error, not a visitor's", async () => {
	const elsewhere = tokensWith(new SecretBox(randomBytes(32)));
	await assert.rejects(elsewhere.verify(shared, `Bearer ${signWithSecret(SECRET, GOOD)}`), /PARLEY_SECRET_KEY/);
});
