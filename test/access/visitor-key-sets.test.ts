import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { VisitorTokens } from '../../src/access/index.ts';
import { type AppError, createLog, SecretBox } from '../../src/base/index.ts';
import type { DeploymentJwt } from '../../src/contract/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { until } from '../support/until.ts';
import { keySetServer } from './key-set-server.ts';
import { forge, newSigner, type Signer, signatureOf, signWithSecret } from './signers.ts';

const START = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const first = newSigner('RS256', 'first');
const second = newSigner('RS256', 'second');
const curve = newSigner('ES256', 'curve');

/** A verifier with a host of key sets, and a clock that the test moves. */
const setUp = (t: TestContext, ...signers: Signer[]) => setUpWith(60_000, t, ...signers);
/** The same for a host that the verifier gives up. */
const setUpImpatient = (t: TestContext, ...signers: Signer[]) => setUpWith(1_000, t, ...signers);

async function setUpWith(fetchTimeoutMs: number, t: TestContext, ...signers: Signer[]) {
	const host = await keySetServer(...signers.map(({ jwk }) => jwk));
	const network = createNetwork({ allowPrivateNetwork: true });
	t.after(async () => {
		await network[Symbol.asyncDispose]();
		await host[Symbol.asyncDispose]();
	});
	const clock = { at: START, now: () => clock.at };
	const secrets = new SecretBox(randomBytes(32));
	const tokens = new VisitorTokens({ secrets, network, clock, log: createLog('silent'), fetchTimeoutMs });
	const settings = (algorithm: DeploymentJwt['algorithm'], jwks_url = host.url): DeploymentJwt => ({
		algorithm,
		secret: null,
		public_key: null,
		jwks_url,
		audience: null,
		issuer: null,
	});
	const visit = (token: string, at = settings('RS256')) => tokens.verify(at, `Bearer ${token}`);
	const claims = () => ({ sub: 'ann', exp: clock.at / 1000 + 3_600 });
	/** The outcome of a token of this signer: the subject, or the error's code. */
	const outcome = async (signer: Signer, header?: Record<string, unknown>) => {
		const token = await signer.sign(claims(), header);
		return visit(token, settings(signer.algorithm)).then(
			({ end_user }) => end_user.id,
			({ code }: AppError) => code,
		);
	};
	return { host, clock, settings, visit, claims, outcome };
}

test('verifies a token with the key of the set that it names, and downloads the set once', async (t) => {
	const { host, outcome } = await setUp(t, first, second, curve);
	assert.equal(host.requests, 0, 'nothing is fetched before it is needed');
	for (const signer of [first, second, curve, first]) assert.equal(await outcome(signer), 'ann');
	assert.equal(host.requests, 1);
	assert.equal(await outcome(newSigner('RS256', 'first')), 'invalid_jwt', 'the right name, another key');
});

test('concurrent requests wait for the same download', async (t) => {
	const { host, outcome } = await setUp(t);
	const waiting: ServerResponse[] = [];
	host.answer = (response) => void waiting.push(response);
	const visits = Array.from({ length: 50 }, () => outcome(first));
	await until('the host was asked', () => waiting.length > 0);
	waiting[0]?.end(JSON.stringify({ keys: [first.jwk] }));
	assert.deepEqual([...new Set(await Promise.all(visits))], ['ann']);
	assert.equal(host.requests, 1);
});

test("a key set does not change the deployment's algorithm", async (t) => {
	const { visit, settings, claims } = await setUp(t, first, curve);
	const refused = { code: 'invalid_jwt', message: /not signed with/ };
	await assert.rejects(visit(await curve.sign(claims()), settings('RS256')), refused);
	await assert.rejects(visit(await first.sign(claims()), settings('ES256')), refused);
	await assert.rejects(visit(signWithSecret(first.publicPem, claims(), { kid: 'first' })), refused);
});

test('finds a new key as soon as a token names it, and rejects a removed key after five minutes', async (t) => {
	const { host, clock, outcome } = await setUp(t, first);
	assert.equal(await outcome(first), 'ann');
	clock.at += MINUTE;
	host.serve(second.jwk);
	assert.equal(await outcome(first), 'ann', 'the set that was fetched a minute ago');
	assert.equal(host.requests, 1);
	assert.equal(await outcome(second), 'ann');
	assert.equal(host.requests, 2);
	assert.equal(await outcome(first), 'invalid_jwt', 'no longer in the set');
	host.serve(first.jwk);
	clock.at += 5 * MINUTE - 1;
	assert.equal(await outcome(second), 'ann');
	clock.at += 1;
	assert.equal(await outcome(second), 'invalid_jwt');
	assert.equal(await outcome(first), 'ann');
	assert.equal(host.requests, 3);
});

test('made-up key names cause at most two downloads a minute', async (t) => {
	const { host, clock, outcome } = await setUp(t, first);
	const flood = async () => {
		for (let at = 0; at < 40; at++) assert.equal(await outcome(second, { kid: `made up ${at}` }), 'invalid_jwt');
	};
	await flood();
	assert.equal(host.requests, 1);
	clock.at += 30_000;
	await Promise.all([flood(), flood()]);
	assert.equal(host.requests, 2);
	clock.at += 29_999;
	await flood();
	assert.equal(host.requests, 2);
	assert.equal(await outcome(first), 'ann', 'visitors with a good token notice nothing');
});

test('a host that is down at first is a 503 with Retry-After, and is asked again after that time', async (t) => {
	const { host, clock, outcome, visit, claims } = await setUp(t, first);
	host.answer = (response) => {
		response.statusCode = 500;
		response.end('{}');
	};
	const token = await first.sign(claims());
	await assert.rejects(visit(token), { code: 'unavailable', status: 503, retry_after: 5 });
	clock.at += 2_000;
	await assert.rejects(visit(token), { code: 'unavailable', retry_after: 3 });
	assert.equal(host.requests, 1);
	clock.at += 2_999;
	await assert.rejects(visit(token), { code: 'unavailable', retry_after: 1 });
	clock.at += 1;
	host.serve(first.jwk);
	assert.equal(await outcome(first), 'ann');
	assert.equal(host.requests, 2);
});

test('while its host is down the last set stays in use, and no request waits for the host twice', async (t) => {
	const { host, clock, outcome } = await setUpImpatient(t, first);
	assert.equal(await outcome(first), 'ann');
	const held: ServerResponse[] = [];
	host.answer = (response) => void held.push(response);
	clock.at += 5 * MINUTE;
	assert.equal(await outcome(first), 'ann', 'after the time for fetching has passed');
	assert.equal(held.length, 1);
	for (let again = 2; again < 5; again++) {
		clock.at += 30_000;
		assert.equal(await outcome(first), 'ann');
		await until('the host was asked again', () => held.length === again);
		assert.ok(!held.at(-1)?.destroyed, 'the visitor was answered while the host was still silent');
		await until('it was given up', () => held.at(-1)?.destroyed);
	}
	clock.at += 24 * 60 * MINUTE;
	host.serve(second.jwk);
	await until('the host was heard again', async () => (await outcome(first)) === 'invalid_jwt');
	assert.equal(await outcome(second), 'ann');
});

test('gives up in time on a host that hangs, disconnects, or sends too much or something else', async (t) => {
	const { host, clock, visit, outcome, claims } = await setUpImpatient(t);
	const token = await first.sign(claims());
	const json = JSON.stringify({ keys: [first.jwk] });
	const megabyte = ' '.repeat(1024 * 1024);
	let sent = 0;
	const failures: Array<[what: string, answer: (response: ServerResponse) => void]> = [
		['silence', () => {}],
		['a head without a body', (response) => response.writeHead(200).flushHeaders()],
		['half a body', (response) => response.write(json.slice(0, 50))],
		['a body that breaks off', (response) => response.write(json.slice(0, 50), () => response.destroy())],
		['no answer', (response) => response.destroy()],
		[
			'ten megabytes, announced',
			(response) => response.writeHead(200, { 'content-length': 10_485_760 }).flushHeaders(),
		],
		[
			'ten megabytes',
			function more(response) {
				if (sent++ < 10 && !response.destroyed) response.write(megabyte, () => more(response));
			},
		],
		['another status', (response) => response.writeHead(404).end(json)],
		['an address elsewhere', (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()],
		['an endless redirect', (response) => response.writeHead(302, { location: host.url }).end()],
		['garbage', (response) => response.end(randomBytes(1000))],
		['a page', (response) => response.end('<!doctype html><title>Sign in</title>')],
		['nothing', (response) => response.end()],
		['no key set', (response) => response.end('{"error":"no"}')],
		['null', (response) => response.end('null')],
		['a list', (response) => response.end('[]')],
		['keys that are no list', (response) => response.end('{"keys":{"0":{}}}')],
		['far too many keys', (response) => response.end(JSON.stringify({ keys: Array(101).fill({ kty: 'EC' }) }))],
		['depths', (response) => response.end(`${'['.repeat(60_000)}${']'.repeat(60_000)}`)],
	];
	for (const [what, answer] of failures) {
		host.answer = answer;
		await assert.rejects(visit(token), { code: 'unavailable' }, what);
		clock.at += 5_000;
	}
	assert.ok(sent < 10, `${sent} of 10 MB were taken`);
	host.serve(first.jwk);
	assert.equal(await outcome(first), 'ann');
	clock.at += 5 * MINUTE;
	for (const [what, answer] of failures.slice(3)) {
		host.answer = answer;
		assert.equal(await outcome(first), 'ann', what);
		clock.at += 30_000;
	}
});

test('ignores other entries of a key set and does not verify with them', async (t) => {
	const { host, clock, visit, settings, claims, outcome } = await setUp(t);
	const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
	const wide = generateKeyPairSync('ec', { namedCurve: 'P-384' });
	const published = newSigner('RS256', 'published');
	const forEncryption = newSigner('RS256', 'encryption');
	const forOthers = newSigner('RS256', 'others');
	const { alg: _alg, use: _use, ...bare } = curve.jwk;
	host.serve(
		null,
		'key',
		[],
		{},
		{ kty: 'RSA', kid: 'empty' },
		{ kty: 'oct', kid: 'shared', k: 'c2VjcmV0' },
		{ kty: 'OKP', crv: 'Ed25519', x: 'AAAA', kid: 'edwards' },
		{ ...first.jwk, kid: 'broken', n: '!' },
		{ ...weak.publicKey.export({ format: 'jwk' }), kid: 'weak' },
		{ ...wide.publicKey.export({ format: 'jwk' }), kid: 'wide' },
		published.privateJwk,
		{ ...forEncryption.jwk, use: 'enc' },
		{ ...forOthers.jwk, alg: 'PS256' },
		{ ...first.jwk, x5c: ['AAAA'], key_ops: ['verify'] },
		bare,
	);
	assert.equal(await outcome(first), 'ann');
	assert.equal(await outcome(curve), 'ann', 'a key that does not say what it is for');
	clock.at += MINUTE;
	for (const signer of [published, forEncryption, forOthers]) assert.equal(await outcome(signer), 'invalid_jwt');
	const refused = { code: 'invalid_jwt', message: /no key/ };
	const byWeak = forge({ alg: 'RS256', kid: 'weak' }, claims(), signatureOf(weak.privateKey));
	await assert.rejects(visit(byWeak), refused);
	const byWide = forge({ alg: 'ES256', kid: 'wide' }, claims(), signatureOf(wide.privateKey));
	await assert.rejects(visit(byWide, settings('ES256')), refused);
	for (const kid of ['empty', 'shared', 'edwards', 'broken', '__proto__', '', 7, null, ['first']]) {
		assert.equal(await outcome(newSigner('ES256'), { kid }), 'invalid_jwt', String(kid));
	}
});

test('verifies a token without a key name where only one key is possible', async (t) => {
	const { host, clock, outcome } = await setUp(t, first, curve);
	const nameless = { kid: undefined };
	assert.equal(await outcome(first, nameless), 'ann');
	assert.equal(await outcome(curve, nameless), 'ann');
	host.serve(first.jwk, second.jwk);
	clock.at += 5 * MINUTE;
	assert.equal(await outcome(first, nameless), 'invalid_jwt', 'OpenID Connect Core, 10.1: then it must name it');
	assert.equal(await outcome(first), 'ann');
	host.serve();
	clock.at += 5 * MINUTE;
	assert.equal(await outcome(first, nameless), 'invalid_jwt', 'a set that was emptied');
});

test('a clock that steps back neither keeps an old set for ever nor causes continuous downloads', async (t) => {
	const { host, clock, outcome } = await setUp(t, first);
	assert.equal(await outcome(first), 'ann');
	clock.at -= 24 * 60 * MINUTE;
	host.serve(second.jwk);
	for (let at = 0; at < 5; at++) assert.equal(await outcome(first), 'invalid_jwt');
	assert.equal(host.requests, 2);
});

test('keeps at most 500 key sets and evicts the least recently used', async (t) => {
	const { host, visit, settings, claims } = await setUp(t, curve);
	const token = await curve.sign(claims());
	const at = (number: number) => visit(token, settings('ES256', `${host.url}?tenant=${number}`));
	for (let number = 0; number < 500; number++) await at(number);
	assert.equal(host.requests, 500);
	await at(0);
	assert.equal(host.requests, 500);
	await at(500);
	await at(0);
	assert.equal(host.requests, 501);
	await at(1);
	assert.equal(host.requests, 502);
});
