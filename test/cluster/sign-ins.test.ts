import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SharedAttemptCounts } from '../../src/access/attempt-counts.ts';
import { SecondFactor } from '../../src/access/index.ts';
import { OidcSignIns, type OidcSignInsOptions } from '../../src/access/oidc-sign-ins.ts';
import { SignInLimits } from '../../src/access/sign-in-limits.ts';
import { AppError, newId, SecretBox, systemClock } from '../../src/base/index.ts';
import { decideAndCommit, expectVersion, type Store } from '../../src/store/index.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/index.ts';
import { totpCode } from '../access/totp.ts';
import * as samples from '../store/samples.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

suite('sign-ins in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let stores: [PostgresStore, PostgresStore];
	before(async () => {
		server = await startPostgres();
		const url = await server.database('sign_ins');
		stores = [await openPostgresStore({ url }), await openPostgresStore({ url })];
	});
	after(async () => {
		for (const store of stores) await store[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});

	const limitsOfBoth = () => stores.map((store) => new SignInLimits(new SharedAttemptCounts(store.sharedLimits)));
	const isRefused = (error: unknown) => error instanceof AppError && error.code === 'rate_limit_exceeded';
	/** Calls all at once, and counts those that were allowed. */
	const allowed = async (calls: Promise<unknown>[]) => {
		const outcomes = await Promise.allSettled(calls);
		for (const outcome of outcomes)
			if (outcome.status === 'rejected') assert.ok(isRefused(outcome.reason), outcome.reason);
		return outcomes.filter(({ status }) => status === 'fulfilled').length;
	};

	test('an account may fail twenty times an hour on all nodes together, also by attempts at once', async () => {
		const limits = limitsOfBoth();
		const email = 'ada@example.com';
		const attempts = Array.from(
			{ length: 50 },
			(_, at) => limits[at % 2]?.consume(email, `10.0.0.${at}`) as Promise<unknown>,
		);
		assert.equal(await allowed(attempts), 20);
		await assert.rejects(limits[0]?.consume(email, '10.0.1.1') as Promise<unknown>, (error: AppError) => {
			assert.ok(isRefused(error));
			return (error.retry_after as number) > 3_000 && (error.retry_after as number) <= 3_600;
		});
		await limits[1]?.consume('bob@example.com', '10.0.1.1');
	});

	test('an address may fail five times a minute, whichever nodes its attempts come to', async () => {
		const limits = limitsOfBoth();
		const attempts = Array.from(
			{ length: 20 },
			(_, at) => limits[at % 2]?.consume(`user${at}@example.com`, '10.2.0.1') as Promise<unknown>,
		);
		assert.equal(await allowed(attempts), 5);
	});

	test('successful attempts count for nothing, and refused ones do not count for their address', async () => {
		const limits = limitsOfBoth();
		const [one, two] = limits as [SignInLimits, SignInLimits];
		for (let at = 0; at < 30; at++) await (await (at % 2 ? one : two).consume('eve@example.com', '10.3.0.1'))();
		for (let at = 0; at < 20; at++) await one.consume('eve@example.com', `10.3.1.${at}`);
		for (let at = 0; at < 10; at++) await assert.rejects(two.consume('eve@example.com', '10.3.0.1'), isRefused);
		for (let at = 0; at < 5; at++) await two.consume(`other${at}@example.com`, '10.3.0.1');
	});

	test('a limit allows attempts again once its window has passed, or an attempt was refunded', async () => {
		const { sharedLimits } = stores[0];
		const refunded = { key: 'refunded', limit: 1, windowMs: 3_600_000 };
		assert.equal(await sharedLimits.countAttempts([refunded]), 0);
		const wait = await sharedLimits.countAttempts([refunded]);
		assert.ok(wait > 0 && wait <= 3_600_000, String(wait));
		await sharedLimits.refundAttempts(['refunded']);
		assert.equal(await sharedLimits.countAttempts([refunded]), 0);
		const short = { key: 'short', limit: 1, windowMs: 50 };
		assert.equal(await sharedLimits.countAttempts([short]), 0);
		await until('the window has passed', async () => (await sharedLimits.countAttempts([short])) === 0);
	});

	test('the answer to one sign-in with OpenID Connect is accepted once, by one node', async () => {
		const secrets = new SecretBox(Buffer.alloc(32, 7));
		const finished: unknown[] = [];
		const nodeOf = (store: Store) =>
			new OidcSignIns({
				...{
					store,
					secrets,
					clock: systemClock,
					secure: false,
					label: 'Issuer',
					address: () => 'https://chat.example',
				},
				provider: {
					begin: async () => ({
						url: 'https://issuer.example',
						state: newId('request'),
						nonce: 'n',
						codeVerifier: 'v',
					}),
					finish: async () => ({ issuer: 'https://issuer.example', subject: 'ada' }),
				},
				accounts: {},
				sessions: { beginForIdentity: async () => finished.push('session') },
			} as unknown as OidcSignInsOptions);
		const nodes = stores.map(nodeOf) as [OidcSignIns, OidcSignIns];
		const { cookie } = await nodes[0].begin();
		const cookies = cookie.split(';')[0] as string;
		const { state } = JSON.parse(secrets.open(cookies.slice(cookies.indexOf('=') + 1), 'openid connect sign-ins'))[0];
		const answer = (node: OidcSignIns) => node.finish({ state, code: 'c' }, { address: '10.0.0.1', cookies }, () => []);
		const outcomes = await Promise.allSettled([nodes[0], nodes[1], nodes[1], nodes[0]].map(answer));
		assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
		assert.deepEqual(finished, ['session']);
		await assert.rejects(answer(nodes[1]), { code: 'unauthorized' });
	});

	test('a code of an authenticator app is accepted once, by one node', async () => {
		const secondFactor = new SecondFactor(new SecretBox(Buffer.alloc(32, 7)));
		const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
		const totp = { secret: secondFactor.seal(secret), enabled_at: 1, last_step: 0, recovery_hashes: [] };
		const record = samples.user({ email: 'totp@example.com', totp });
		await stores[0].commit({ write: [{ op: 'insert', kind: 'users', record }] });
		const now = Date.now();
		// As a sign-in does: the account with the accepted code is committed if it has not changed.
		const use = (store: Store) =>
			decideAndCommit(store, async () => {
				const user = await store.get('users', record.id);
				const accepted = user?.totp && secondFactor.accept(user.totp, totpCode(secret, now), now);
				if (!user || !accepted) return { commit: null, result: false };
				const patch = { op: 'patch', kind: 'users', id: user.id, set: { totp: accepted } } as const;
				return { commit: { expect: [expectVersion('users', user)], write: [patch] }, result: true };
			});
		const outcomes = await Promise.all([...stores, ...stores, ...stores].map(use));
		assert.equal(outcomes.filter(Boolean).length, 1);
	});
});
