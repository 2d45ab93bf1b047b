import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import test, { after } from 'node:test';
import { pino } from 'pino';
import { keySetServer } from '../access/key-set-server.ts';
import { forge, newSigner, signWithSecret } from '../access/signers.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { isNamed, openTestStream } from '../conversations/streams.ts';
import { type ApiResponse, ORIGIN, startTestApp } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { createApiFixture } from './fixture.ts';

const clock = manualWallClock();
const model = new ManualModel({
	autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['You said: ', question, '.']),
});
let logged = '';
const log = pino(
	{ level: 'trace' },
	new Writable({
		write(line, _encoding, done) {
			logged += line;
			done();
		},
	}),
);
const host = await keySetServer();
after(() => host[Symbol.asyncDispose]());
const settings = { allow_private_network: true, trusted_proxies: ['127.0.0.1'] };
let app = await startTestApp({ settings, overrides: { clock, log, providers: [model.provider] } });
after(() => app[Symbol.asyncDispose]());

const MESSAGES = '/api/v1/widget/messages';
const SECRET = 'a secret of the shop, long enough';
const SHARED = { algorithm: 'HS256', secret: SECRET };
const rsa = newSigner('RS256', 'rsa');
const ec = newSigner('ES256', 'ec');

const claims = (sub: string, more: object = {}) => ({ sub, exp: clock.now() / 1000 + 3_600, ...more });
const tokenOf = (sub: string, more?: object) => signWithSecret(SECRET, claims(sub, more));

/** A deployment that requires tokens. */
async function deploy(jwt: object = SHARED, deployment: object = {}): Promise<string> {
	const required = { features: { jwt_required: true }, jwt, ...deployment };
	return (await createApiFixture(app, { model: 'scripted/any', deployment: required })).deployment;
}

type Request = [method: string, path: string, body?: unknown, headers?: Record<string, string>];

/** A visitor of a deployment, with a token or anonymous. */
function visitor(deployment: string, token: string | null, more: Record<string, string> = {}) {
	const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...more };
	const query = `deployment_id=${deployment}`;
	const of = (conversation: string) => `/api/v1/widget/conversations/${conversation}`;
	const send = (content: string, conversation_id?: string) =>
		app.callAsVisitor('POST', MESSAGES, { deployment_id: deployment, content, conversation_id }, headers);
	return {
		send,
		/** Starts a conversation and returns the response to its first message. */
		async start(content = 'Hello'): Promise<{ id: string; conversation_id: string }> {
			const { status, body } = await send(content);
			assert.equal(status, 201, JSON.stringify(body));
			return body;
		},
		/** Every operation on a conversation and a message in it. */
		uses: (conversation: string, message: string): Request[] => [
			['POST', MESSAGES, { deployment_id: deployment, content: 'Hi', conversation_id: conversation }, headers],
			['GET', `${of(conversation)}/messages?${query}`, undefined, headers],
			['GET', `${of(conversation)}/events?${query}&last_event_id=1.0`, undefined, headers],
			['POST', `${of(conversation)}/stop`, { deployment_id: deployment }, headers],
			['POST', `${MESSAGES}/${message}/feedback`, { deployment_id: deployment, rating: 'up' }, headers],
		],
		history: (conversation: string) =>
			app.callAsVisitor('GET', `${of(conversation)}/messages?${query}`, undefined, headers),
		follow: (conversation: string) =>
			openTestStream(`${app.url}${of(conversation)}/events?${query}`, { headers: { origin: ORIGIN, ...headers } }),
	};
}

function assertCors({ headers }: ApiResponse): void {
	assert.equal(headers.get('access-control-allow-origin'), ORIGIN);
	assert.match(headers.get('vary') ?? '', /\borigin\b/i);
	assert.match(headers.get('access-control-expose-headers') ?? '', /retry-after/i);
}

test('admits a visitor by a token of each kind and stores the end user with the conversation', async () => {
	host.serve(rsa.jwk, ec.jwk);
	const ann = { name: 'Ann Bee', email: 'ann@shop.example' };
	const kinds: Array<[jwt: object, token: string]> = [
		[SHARED, tokenOf('ann', ann)],
		[{ algorithm: 'RS256', public_key: rsa.publicPem }, await rsa.sign(claims('ann', ann))],
		[{ algorithm: 'ES256', public_key: ec.publicPem }, await ec.sign(claims('ann', ann))],
		[{ algorithm: 'RS256', jwks_url: `${host.url}?kinds` }, await rsa.sign(claims('ann', ann))],
		[{ algorithm: 'ES256', jwks_url: `${host.url}?kinds` }, await ec.sign(claims('ann', ann))],
	];
	for (const [jwt, token] of kinds) {
		const deployment = await deploy(jwt);
		const visit = visitor(deployment, token);
		const first = await visit.send('Hello');
		assert.deepEqual([first.status, first.body.content], [201, 'You said: Hello.'], JSON.stringify(first.body));
		assertCors(first);
		assert.equal(first.body.user_message.author.name, 'Ann Bee');
		const { conversation_id } = first.body;
		assert.equal((await visit.send('Again', conversation_id)).body.conversation_id, conversation_id);
		assert.equal((await visit.history(conversation_id)).body.data.length, 4);
		const { body } = await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}&end_user_id=ann`);
		assert.deepEqual(
			body.data.map(({ id, end_user }: { id: string; end_user: object }) => [id, end_user]),
			[[conversation_id, { id: 'ann', ...ann }]],
		);
	}
});

test('limits clients that send invalid tokens, and no others', async () => {
	const deployment = await deploy();
	const from = (address: string, token: string) => visitor(deployment, token, { 'x-forwarded-for': address });
	const over = tokenOf('ann', { exp: clock.now() / 1000 - 60 });
	for (let tried = 0; tried < 300; tried++) assert.equal((await from('192.0.2.7', over).send('Hello')).status, 401);
	const refused = await from('192.0.2.7', over).send('Hello');
	assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limit_exceeded']);
	assert.equal(refused.headers.get('retry-after'), '60');
	assertCors(refused);
	assert.equal((await from('192.0.2.8', over).send('Hello')).status, 401);
	// A valid token is counted by its subject, from any address.
	assert.equal((await from('192.0.2.7', tokenOf('ann')).send('Hello')).status, 201);
});

test('an invalid token is a 401 with a readable reason on every route but the configuration', async () => {
	const deployment = await deploy({ algorithm: 'RS256', public_key: rsa.publicPem, audience: 'chat', issuer: 'shop' });
	const right = { aud: 'chat', iss: 'shop' };
	const good = await rsa.sign(claims('ann', right));
	const owner = visitor(deployment, good);
	const { id, conversation_id } = await owner.start();
	const hmac = (secret: string) => (input: string) => createHmac('sha256', secret).update(input).digest();
	const bad: Array<[token: string | null, reason: RegExp]> = [
		[null, /Authorization: Bearer/],
		['', /Authorization/],
		[app.key, /Authorization|well-formed/],
		['x'.repeat(8_193), /longer than 8192/],
		[forge({ alg: 'none' }, claims('ann', right), () => Buffer.alloc(0)), /not signed with RS256/],
		[forge({ alg: 'HS256' }, claims('ann', right), hmac(rsa.publicPem)), /not signed with RS256/],
		[forge({ alg: 'RS256' }, claims('ann', right), hmac(rsa.publicPem)), /signature/],
		[await ec.sign(claims('ann', right)), /not signed with RS256/],
		[await newSigner('RS256').sign(claims('ann', right)), /signature/],
		[await rsa.sign(claims('ann', { ...right, exp: clock.now() / 1000 - 60 })), /expired/],
		[await rsa.sign(claims('ann', { ...right, nbf: clock.now() / 1000 + 60 })), /not valid yet/],
		[await rsa.sign(claims('ann', { ...right, aud: 'other' })), /audience/],
		[await rsa.sign(claims('ann', { ...right, iss: 'other' })), /issuer/],
		[await rsa.sign({ exp: clock.now() / 1000 + 60, ...right }), /lacks the claim sub/],
		[await rsa.sign({ sub: 'ann', ...right }), /lacks the claim exp/],
		[await rsa.sign(claims('', right)), /claim sub/],
		[forge({ alg: 'RS256', crit: ['x'], x: 1 }, claims('ann', right), hmac(SECRET)), /crit/],
	];
	for (const [token, reason] of bad) {
		const visit = visitor(deployment, token);
		for (const request of [...visit.uses(conversation_id, id), ...visit.uses('conv_1', 'msg_1')]) {
			const answer = await app.callAsVisitor(...request);
			const { error } = answer.body;
			assert.deepEqual([answer.status, error.code], [401, 'invalid_jwt'], `${request[1]} ${reason}`);
			assert.match(error.message, reason);
			assert.ok(!token || !error.message.includes(token.slice(0, 20)));
			assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
			assert.equal(answer.headers.get('cache-control'), 'no-store');
			assertCors(answer);
		}
	}
	assert.equal((await owner.history(conversation_id)).body.data.length, 2, 'nothing was added');
	const config = await app.callAsVisitor('GET', `/api/v1/widget/config?deployment_id=${deployment}`);
	assert.deepEqual([config.status, config.body.features.jwt_required], [200, true]);
	const preflight = await fetch(app.url + MESSAGES, {
		method: 'OPTIONS',
		headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
	});
	assert.equal(preflight.status, 204);
	const elsewhere = await app.callAsVisitor(
		'POST',
		MESSAGES,
		{ deployment_id: deployment, content: 'Hi' },
		{
			origin: 'https://evil.example',
			authorization: `Bearer ${good}`,
		},
	);
	assert.equal(elsewhere.status, 403, 'a valid token does not admit other pages');
});

test('a conversation belongs to the visitor who started it: for others it does not exist', async () => {
	const deployment = await deploy();
	const ann = visitor(deployment, tokenOf('ann', { name: 'Ann' }));
	const { id, conversation_id } = await ann.start('A private matter');
	const nowhere = { conversation: `conv_${'0'.repeat(32)}`, message: `msg_${'0'.repeat(32)}` };
	for (const other of ['bob', 'Ann', 'ann ', 'an', '__proto__']) {
		const stranger = visitor(deployment, tokenOf(other, { name: 'Ann' }));
		const mine = stranger.uses(conversation_id, id);
		for (const [at, unknown] of stranger.uses(nowhere.conversation, nowhere.message).entries()) {
			const [refused, missing] = [
				await app.callAsVisitor(...(mine[at] as Request)),
				await app.callAsVisitor(...unknown),
			];
			assert.deepEqual([refused.status, refused.body.error.code], [404, 'not_found'], unknown[1]);
			assert.equal(refused.body.error.message, missing.body.error.message, 'the error does not show which ids exist');
			assertCors(refused);
		}
	}
	const renamed = visitor(deployment, tokenOf('ann', { name: 'Ann Cee' }));
	assert.equal((await renamed.send('Me again', conversation_id)).status, 201, 'the subject counts, not the name');
	const { body } = await ann.history(conversation_id);
	assert.deepEqual(
		body.data.map(({ content, feedback }: { content: string; feedback: unknown }) => [content, feedback]),
		[
			['A private matter', null],
			['You said: A private matter.', null],
			['Me again', null],
			['You said: Me again.', null],
		],
	);
	const rated = await app.callAsVisitor(...(ann.uses(conversation_id, id)[4] as Request));
	assert.deepEqual([rated.status, rated.body.feedback], [200, 'up']);
});

test('only the visitor who started a conversation follows and stops its reply', async () => {
	const deployment = await deploy();
	const ann = visitor(deployment, tokenOf('ann'));
	const { conversation_id } = await ann.start();
	const index = model.replies.length;
	const waiting = ann.send('Wait for it', conversation_id);
	const held = await model.reply(index);
	await using stream = await ann.follow(conversation_id);
	held.say('Half of');
	await stream.until(isNamed('message.delta'));
	const [, , , stop] = visitor(deployment, tokenOf('bob')).uses(conversation_id, 'msg_1');
	assert.equal((await app.callAsVisitor(...(stop as Request))).status, 404);
	assert.ok(!held.signal.aborted);
	const [, , , own] = ann.uses(conversation_id, 'msg_1');
	assert.deepEqual((await app.callAsVisitor(...(own as Request))).body, { stopped: true });
	assert.equal((await waiting).body.status, 'stopped');
});

test('an anonymous conversation is not found where tokens are required, nor an identified one where they are not', async () => {
	const deployment = await deploy();
	const ann = visitor(deployment, tokenOf('ann'));
	const nobody = visitor(deployment, null);
	const hers = await ann.start();
	const required = (jwt_required: boolean) =>
		app.call('PATCH', `/api/v1/deployments/${deployment}`, { features: { jwt_required } });
	await required(false);
	const anonymous = await nobody.start();
	for (const visit of [nobody, ann]) {
		for (const request of visit.uses(hers.conversation_id, hers.id)) {
			assert.equal((await app.callAsVisitor(...request)).status, 404, request[1]);
		}
	}
	await required(true);
	for (const request of ann.uses(anonymous.conversation_id, anonymous.id)) {
		assert.equal((await app.callAsVisitor(...request)).status, 404, request[1]);
	}
	assert.equal((await ann.history(hers.conversation_id)).status, 200);
	const byOwner = await app.call('POST', '/api/v1/messages', {
		deployment_id: deployment,
		conversation_id: hers.conversation_id,
		content: 'From the office',
	});
	assert.equal(byOwner.status, 201, 'the owner of the deployment is not a visitor');
});

test('two visitors behind one address may use the same Idempotency-Key and get separate replies', async () => {
	const deployment = await deploy();
	const [ann, bob] = ['ann', 'bob'].map((sub) => visitor(deployment, tokenOf(sub), { 'idempotency-key': 'first' }));
	const [hers, again, his] = [await ann?.start(), await ann?.start(), await bob?.start()];
	assert.equal(hers?.conversation_id, again?.conversation_id);
	assert.notEqual(hers?.conversation_id, his?.conversation_id);
});

test('a repeat from another network is the same message where its key cannot be guessed, and only there', async () => {
	const open = await deploy(SHARED, { features: {} });
	const closed = await deploy();
	const long = 'k3v9x1p-8w2m4qz-1c7r5ty';
	const from = async (address: string, key: string, deployment = open, sub: string | null = null) => {
		const more = { 'x-forwarded-for': address, 'idempotency-key': key };
		return (await visitor(deployment, sub === null ? null : tokenOf(sub), more).start()).conversation_id;
	};
	const first = await from('192.0.2.1', long);
	assert.equal(await from('198.51.100.7', long), first);
	assert.equal(await from('2001:db8::1', long), first);
	assert.notEqual(await from('192.0.2.1', 'message-1'), await from('198.51.100.7', 'message-1'));
	// Where visitors have tokens, a key does not give another visitor's reply.
	const hers = await from('192.0.2.1', long, closed, 'ann');
	assert.equal(await from('198.51.100.7', long, closed, 'ann'), hers);
	assert.notEqual(await from('192.0.2.1', long, closed, 'bob'), hers);
});

test('counts messages by subject, from any address, and not those of other subjects', async () => {
	const deployment = await deploy(SHARED, { rate_limit: { messages_per_minute: 2 } });
	const from = (sub: string, address: string) => visitor(deployment, tokenOf(sub), { 'x-forwarded-for': address });
	const status = async (sub: string, address: string) => (await from(sub, address).send('Hi')).status;
	assert.equal(await status('ann', '192.0.2.1'), 201);
	assert.equal(await status('ann', '198.51.100.1'), 201);
	const refused = await from('ann', '203.0.113.1').send('Hi');
	assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '60']);
	assertCors(refused);
	assert.equal(await status('bob', '192.0.2.1'), 201);
	clock.advance(60_000);
	assert.equal(await status('ann', '192.0.2.1'), 201);
});

test('without tokens counts messages by client network: an address, or an IPv6 /64', async () => {
	const limits = { rate_limit: { messages_per_minute: 1 }, features: {} };
	const deployment = await deploy(SHARED, limits);
	const status = async (address: string) => {
		// Entries further left were sent by the client and may be forged.
		const forwarded = { 'x-forwarded-for': `203.0.113.${Math.floor(Math.random() * 255)}, ${address}` };
		return (await visitor(deployment, null, forwarded).send('Hi')).status;
	};
	assert.equal(await status('192.0.2.1'), 201);
	assert.equal(await status('192.0.2.1'), 429);
	assert.equal(await status('192.0.2.2'), 201);
	assert.equal(await status('2001:db8:1:2::1'), 201);
	assert.equal(await status('2001:db8:1:2:aaaa::9'), 429);
	assert.equal(await status('2001:db8:1:3::1'), 201);
	assert.equal(await status('::ffff:192.0.2.2'), 429);
});

test('shows the secret nowhere: not in a response, the database or the log', async () => {
	const deployment = await deploy({ algorithm: 'HS256', secret: SECRET });
	const token = tokenOf('ann');
	await visitor(deployment, token).start();
	await visitor(deployment, `${token}x`).send('Hi');
	const shown = await app.call('GET', `/api/v1/deployments/${deployment}`);
	assert.equal(shown.body.jwt.secret, '***');
	const files = (await readdir(app.dataDir)).filter((name) => name.startsWith('parley.db'));
	assert.ok(files.length > 0);
	for (const name of files) {
		const bytes = await readFile(join(app.dataDir, name));
		assert.ok(!bytes.includes(SECRET), name);
		assert.ok(!bytes.includes(token.slice(-43)), name);
	}
	assert.ok(!logged.includes(SECRET));
	assert.ok(!logged.includes(token.slice(-43)));
});

test('a new secret is valid from the next request, and a restart keeps it and the owners of conversations', async () => {
	const deployment = await deploy();
	const ann = visitor(deployment, tokenOf('ann'));
	const { id, conversation_id } = await ann.start();
	const secret = 'another secret, as long as it must be';
	await app.call('PATCH', `/api/v1/deployments/${deployment}`, { jwt: { secret } });
	assert.equal((await ann.history(conversation_id)).status, 401);
	const renewed = visitor(deployment, signWithSecret(secret, claims('ann')));
	assert.equal((await renewed.history(conversation_id)).status, 200);
	app = await app.restart();
	assert.equal((await renewed.history(conversation_id)).body.data.length, 2);
	assert.equal((await ann.history(conversation_id)).status, 401);
	const bob = visitor(deployment, signWithSecret(secret, claims('bob')));
	for (const request of bob.uses(conversation_id, id)) assert.equal((await app.callAsVisitor(...request)).status, 404);
});

test('downloads a key set once, follows its rotation, and ignores made-up keys', async () => {
	const next = newSigner('RS256', 'next');
	host.serve(rsa.jwk);
	const deployment = await deploy({ algorithm: 'RS256', jwks_url: `${host.url}?rotation` });
	const before = host.requests;
	const status = async (signer: typeof rsa, header?: object) =>
		(await visitor(deployment, await signer.sign(claims('ann'), { ...header })).history('conv_1')).status;
	const first = await Promise.all(Array.from({ length: 20 }, () => status(rsa)));
	assert.deepEqual([...new Set(first)], [404], 'the visitor is admitted, but the conversation does not exist');
	assert.equal(host.requests - before, 1);
	for (let at = 0; at < 20; at++) assert.equal(await status(next, { kid: `made up ${at}` }), 401);
	assert.equal(host.requests - before, 1);
	host.serve(rsa.jwk, next.jwk);
	clock.advance(30_000);
	assert.equal(await status(next), 404);
	assert.equal(await status(rsa), 404, 'both keys are valid while both are in the set');
	assert.equal(host.requests - before, 2);
	host.serve(next.jwk);
	clock.advance(5 * 60_000);
	assert.equal(await status(rsa), 401);
	assert.equal(await status(next), 404);
	assert.equal(host.requests - before, 3);
});

test('a key set that cannot be downloaded is a 503 with Retry-After, and a downloaded one stays in use', async () => {
	const token = await rsa.sign(claims('ann'));
	const failures: Array<[what: string, answer: (response: ServerResponse) => void]> = [
		['hangs', () => {}],
		['dies', (response) => response.destroy()],
		['10 MB', (response) => response.end(Buffer.alloc(10_485_760, ' '))],
		['garbage', (response) => response.end('<html>Sign in</html>')],
	];
	for (const [what, answer] of failures) {
		host.answer = answer;
		const deployment = await deploy({ algorithm: 'RS256', jwks_url: `${host.url}?${encodeURIComponent(what)}` });
		const visit = visitor(deployment, token);
		const [refused, bad] = await Promise.all([visit.send('Hi'), visitor(deployment, 'bad').send('Hi')]);
		assert.deepEqual([refused.status, refused.body.error.code], [503, 'unavailable'], what);
		assert.deepEqual([refused.headers.get('retry-after'), refused.body.error.retry_after], ['5', 5]);
		assertCors(refused);
		assert.equal(bad?.status, 401, 'a malformed token needs no key');
		clock.advance(5_000);
		host.serve(rsa.jwk);
		const { conversation_id } = await visit.start();
		host.answer = answer;
		clock.advance(5 * 60_000);
		assert.equal((await visit.history(conversation_id)).status, 200, what);
		clock.advance(30_000);
		const asked = host.requests;
		assert.equal((await visit.history(conversation_id)).status, 200, what);
		await until('the host is asked again', () => host.requests > asked);
	}
	assert.match(logged, /a key set could not be fetched/, 'the log has the failure');
});

test('does not use a key set in a private network or without https, unless the operator allows it', async () => {
	await using strict = await startTestApp();
	const { assistant } = await createApiFixture(strict);
	for (const jwks_url of [host.url, 'https://localhost/keys', 'http://id.example/keys']) {
		const answer = await strict.call('POST', '/api/v1/deployments', {
			assistant_id: assistant,
			jwt: { algorithm: 'RS256', jwks_url },
		});
		assert.deepEqual([answer.status, answer.body.error.code], [400, 'url_not_allowed']);
		assert.equal(answer.body.error.details[0].path, '/jwt/jwks_url');
	}
});
