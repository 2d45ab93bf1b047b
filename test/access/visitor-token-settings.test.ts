import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { VisitorTokenSettings } from '../../src/access/index.ts';
import { AppError, SecretBox } from '../../src/base/index.ts';
import type { DeploymentJwt, DeploymentJwtPatch } from '../../src/contract/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { newSigner } from './signers.ts';

const SECRET = 'a secret of the shop, long enough';
const secrets = new SecretBox(randomBytes(32));
const settings = new VisitorTokenSettings({ secrets, network: createNetwork({ allowPrivateNetwork: false }) });

const rsa = newSigner('RS256');
const ec = newSigner('ES256');
const pem = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ type: 'spki', format: 'pem' }) as string;
const NOTHING = { secret: null, public_key: null, jwks_url: null, audience: null, issuer: null };

/** The paths in the details of a change's error; none where the change is accepted. */
function complaints(stored: DeploymentJwt | null, patch: DeploymentJwtPatch, code = 'invalid_request'): string[] {
	try {
		settings.merge(stored, patch);
		return [];
	} catch (error) {
		assert.ok(error instanceof AppError, String(error));
		assert.equal(error.code, code, error.message);
		assert.ok(error.details && error.details.length > 0);
		assert.ok(error.message.includes(error.details[0]?.message ?? '?'));
		return error.details.map(({ path }) => path);
	}
}

test('each algorithm accepts the key that fits it', () => {
	const shared = settings.merge(null, { algorithm: 'HS256', secret: SECRET, audience: 'chat' });
	assert.deepEqual(shared, { ...NOTHING, algorithm: 'HS256', audience: 'chat', secret: shared?.secret });
	assert.deepEqual(settings.merge(null, { algorithm: 'RS256', public_key: rsa.publicPem, issuer: 'me' }), {
		...NOTHING,
		algorithm: 'RS256',
		public_key: rsa.publicPem,
		issuer: 'me',
	});
	const jwks_url = 'https://id.example/keys?tenant=1';
	for (const algorithm of ['RS256', 'ES256'] as const) {
		assert.deepEqual(settings.merge(null, { algorithm, jwks_url }), { ...NOTHING, algorithm, jwks_url });
	}
	assert.equal(complaints(null, { algorithm: 'ES256', public_key: ec.publicPem }).length, 0);
});

test('accepts a public key with any line breaks', () => {
	const body = rsa.publicPem.replaceAll(/-----.*-----|\s/g, '');
	for (const public_key of [
		rsa.publicPem.trim(),
		`\n  ${rsa.publicPem}\n\n`,
		rsa.publicPem.replaceAll('\n', '\r\n'),
		`-----BEGIN PUBLIC KEY-----\n${body.match(/.{1,40}/g)?.join('\n')}\n-----END PUBLIC KEY-----`,
	]) {
		assert.deepEqual(complaints(null, { algorithm: 'RS256', public_key }), [], JSON.stringify(public_key));
	}
});

test('stores a secret sealed, and nowhere else', () => {
	const stored = settings.merge(null, { algorithm: 'HS256', secret: SECRET });
	assert.ok(stored?.secret);
	assert.doesNotMatch(JSON.stringify(stored), new RegExp(SECRET));
	assert.equal(secrets.open(stored.secret, 'visitor tokens'), SECRET);
});

test('a secret has at least 32 bytes, also with multi-byte characters', () => {
	const path = ['/jwt/secret'];
	for (const secret of ['', 'short', 'x'.repeat(31), 'ü'.repeat(15), '***']) {
		assert.deepEqual(complaints(null, { algorithm: 'HS256', secret }), path, secret);
	}
	for (const secret of ['x'.repeat(32), 'ü'.repeat(16), '🗝️'.repeat(5)]) {
		assert.deepEqual(complaints(null, { algorithm: 'HS256', secret }), [], secret);
	}
});

test('names the field of keys that are missing, superfluous or of another algorithm', () => {
	const jwks_url = 'https://id.example/keys';
	const { publicPem } = rsa;
	const cases: Array<[patch: DeploymentJwtPatch, paths: string[]]> = [
		[{ secret: SECRET }, ['/jwt/algorithm']],
		[{}, ['/jwt/algorithm']],
		[{ algorithm: 'HS256' }, ['/jwt/secret']],
		[{ algorithm: 'HS256', secret: null }, ['/jwt/secret']],
		[{ algorithm: 'HS256', secret: SECRET, public_key: publicPem }, ['/jwt/public_key']],
		[{ algorithm: 'HS256', secret: SECRET, jwks_url }, ['/jwt/jwks_url']],
		[{ algorithm: 'HS256', public_key: publicPem }, ['/jwt/public_key', '/jwt/secret']],
		[{ algorithm: 'RS256' }, ['/jwt/public_key']],
		[{ algorithm: 'RS256', secret: SECRET }, ['/jwt/secret', '/jwt/public_key']],
		[{ algorithm: 'RS256', secret: SECRET, public_key: publicPem }, ['/jwt/secret']],
		[{ algorithm: 'RS256', public_key: publicPem, jwks_url }, ['/jwt/jwks_url']],
		[{ algorithm: 'ES256', secret: SECRET, jwks_url }, ['/jwt/secret']],
	];
	for (const [patch, paths] of cases) assert.deepEqual(complaints(null, patch), paths, JSON.stringify(patch));
});

test('rejects a public key that is too weak, of another kind or not a public key', () => {
	const refused: Array<[algorithm: 'RS256' | 'ES256', public_key: string]> = [
		['RS256', ec.publicPem],
		['ES256', rsa.publicPem],
		['RS256', pem(generateKeyPairSync('rsa', { modulusLength: 1024 }))],
		['RS256', pem(generateKeyPairSync('rsa', { modulusLength: 2040 }))],
		['RS256', pem(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }))],
		['ES256', pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }))],
		['ES256', pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }))],
		['ES256', pem(generateKeyPairSync('ed25519'))],
		['RS256', rsa.privatePem],
		['ES256', ec.privatePem],
		['RS256', rsa.publicPem + rsa.privatePem],
		['RS256', rsa.publicPem + rsa.publicPem],
		['RS256', rsa.publicPem.replaceAll('PUBLIC KEY', 'CERTIFICATE')],
		['RS256', rsa.publicPem.replaceAll('PUBLIC KEY', 'RSA PUBLIC KEY')],
		['RS256', rsa.publicPem.replace('-----END PUBLIC KEY-----', '')],
		['RS256', rsa.publicPem.slice(0, 200) + rsa.publicPem.slice(210)],
		['RS256', JSON.stringify(rsa.jwk)],
		['RS256', 'ssh-rsa AAAAB3NzaC1yc2E='],
		['RS256', '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----'],
		['RS256', '***'],
		['RS256', ''],
	];
	for (const [algorithm, public_key] of refused) {
		assert.deepEqual(complaints(null, { algorithm, public_key }), ['/jwt/public_key'], public_key);
	}
});

test('accepts key sets at public https addresses only', () => {
	for (const jwks_url of [
		'http://id.example/keys',
		'https://localhost/keys',
		'https://127.0.0.1/keys',
		'https://[::1]/keys',
		'https://10.0.0.1/keys',
		'https://169.254.169.254/latest',
		'https://user:word@id.example/keys',
		'file:///etc/passwd',
		'data:application/json,{}',
		'/keys',
		'',
	]) {
		assert.deepEqual(
			complaints(null, { algorithm: 'RS256', jwks_url }, 'url_not_allowed'),
			['/jwt/jwks_url'],
			jwks_url,
		);
	}
});

test('merges a change: fields that are not named stay, null clears, and the result must be valid', () => {
	const stored = settings.merge(null, { algorithm: 'HS256', secret: SECRET, audience: 'chat' }) as DeploymentJwt;
	assert.deepEqual(settings.merge(stored, {}), stored);
	assert.deepEqual(settings.merge(stored, { issuer: 'me' }), { ...stored, issuer: 'me' });
	assert.deepEqual(settings.merge(stored, { audience: null }), { ...stored, audience: null });
	assert.equal(settings.merge(stored, null), null);
	assert.deepEqual(complaints(stored, { secret: null }), ['/jwt/secret']);
	assert.deepEqual(complaints(stored, { algorithm: 'RS256' }), ['/jwt/secret', '/jwt/public_key']);
	assert.deepEqual(complaints(stored, { algorithm: 'RS256', public_key: rsa.publicPem }), ['/jwt/secret']);
	const turned = settings.merge(stored, { algorithm: 'RS256', secret: null, public_key: rsa.publicPem });
	assert.deepEqual(turned, { ...stored, algorithm: 'RS256', secret: null, public_key: rsa.publicPem });
	assert.deepEqual(complaints(turned, { algorithm: 'ES256' }), ['/jwt/public_key']);
	assert.deepEqual(complaints(turned, { jwks_url: 'https://id.example/keys' }), ['/jwt/jwks_url']);
	assert.deepEqual(complaints(turned, { jwks_url: 'https://id.example/keys', public_key: null }), []);
});

test('three asterisks, sent back as they were read, keep the secret', () => {
	const stored = settings.merge(null, { algorithm: 'HS256', secret: SECRET }) as DeploymentJwt;
	assert.deepEqual(settings.merge(stored, { secret: '***', audience: 'chat' }), { ...stored, audience: 'chat' });
	const changed = settings.merge(stored, { secret: 'another secret, as long as it must be' }) as DeploymentJwt;
	assert.notEqual(changed.secret, stored.secret);
	assert.deepEqual(complaints(null, { algorithm: 'HS256', secret: '***' }), ['/jwt/secret'], 'there is none to leave');
	const without = settings.merge(null, { algorithm: 'RS256', public_key: rsa.publicPem }) as DeploymentJwt;
	assert.equal(settings.merge(without, { secret: '***' })?.secret, null);
});
