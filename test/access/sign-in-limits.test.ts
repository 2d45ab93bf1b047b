import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryAttemptCounts } from '../../src/access/attempt-counts.ts';
import { SignInLimits } from '../../src/access/sign-in-limits.ts';
import { manualWallClock } from '../support/manual-clock.ts';

function limitsAt() {
	const clock = manualWallClock();
	return { clock, limits: new SignInLimits(new MemoryAttemptCounts(clock)) };
}

const tooMany = (seconds: number) => ({ code: 'rate_limit_exceeded', retry_after: seconds });

const HOUR = 3_600_000;
const email = 'ada@example.com';

/** Uses up an account's failures, each from another address. */
async function lock(limits: SignInLimits, account = email): Promise<void> {
	for (let at = 1; at <= 20; at++) await limits.consume(account, `10.0.0.${at}`);
}

test('twenty failures an hour are allowed for one account, over all addresses', async () => {
	const { clock, limits } = limitsAt();
	await lock(limits);
	await assert.rejects(limits.consume(email, '10.0.1.1'), tooMany(3600));
	await limits.consume('bob@example.com', '10.0.1.1');
	clock.advance(HOUR - 1_000);
	await assert.rejects(limits.consume(email, '10.0.1.1'), tooMany(1));
	clock.advance(1_000);
	await limits.consume(email, '10.0.1.1');
});

test('five failures a minute are allowed on a known device, and count for neither the account nor the address', async () => {
	const { clock, limits } = limitsAt();
	await lock(limits);
	for (let at = 1; at <= 5; at++) await limits.consumeForDevice('one');
	await assert.rejects(limits.consumeForDevice('one'), tooMany(60));
	await limits.consumeForDevice('two');
	clock.advance(59_000);
	await assert.rejects(limits.consumeForDevice('one'), tooMany(1));
	clock.advance(1_000);
	for (let at = 0; at < 100; at++) await (await limits.consumeForDevice('one'))();
	await limits.consumeForDevice('one');
});

test('twenty codes an hour may fail on the known devices of an account together, and count for no password', async () => {
	const { clock, limits } = limitsAt();
	for (let at = 1; at <= 20; at++) await limits.consumeCodeForDevice({ userId: 'ada', nonce: `device ${at}` });
	await assert.rejects(limits.consumeCodeForDevice({ userId: 'ada', nonce: 'another' }), tooMany(3600));
	await limits.consumeCodeForDevice({ userId: 'bob', nonce: 'of bob' });
	for (let at = 1; at <= 5; at++) await limits.consumeForDevice('another');
	clock.advance(HOUR);
	for (let at = 0; at < 100; at++) await (await limits.consumeCodeForDevice({ userId: 'ada', nonce: 'another' }))();
	for (let at = 1; at <= 5; at++) await limits.consumeCodeForDevice({ userId: 'ada', nonce: 'another' });
	await assert.rejects(limits.consumeCodeForDevice({ userId: 'ada', nonce: 'another' }), tooMany(60));
});

test('at the limit an attempt can also be rejected without an error', async () => {
	const { limits } = limitsAt();
	await lock(limits);
	assert.equal(await limits.tryConsume(email, '10.0.1.1'), null);
	assert.ok(await limits.tryConsume('bob@example.com', '10.0.1.1'));
});

test('five failures a minute are allowed from one address, whatever the account', async () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) await limits.consume(`user${at}@example.com`, '10.0.0.1');
	await assert.rejects(limits.consume('user6@example.com', '10.0.0.1'), tooMany(60));
	await limits.consume('user6@example.com', '10.0.0.2');
});

test('an IPv6 /64 counts as one address', async () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) await limits.consume(`user${at}@example.com`, `2001:db8:1:2:${at}::1`);
	await assert.rejects(limits.consume('user6@example.com', '2001:db8:1:2:ffff::1'), tooMany(60));
	await limits.consume('user6@example.com', '2001:db8:1:3::1');
});

test('a successful sign-in uses up nothing', async () => {
	const { limits } = limitsAt();
	for (let at = 0; at < 100; at++) await (await limits.consume('ada@example.com', '10.0.0.1'))();
	for (let at = 0; at < 5; at++) await limits.consume('ada@example.com', '10.0.0.1');
	await assert.rejects(limits.consume('ada@example.com', '10.0.0.1'), tooMany(60));
});

test('an attempt that is rejected because its account is locked does not count for its address', async () => {
	const { limits } = limitsAt();
	await lock(limits);
	for (let at = 0; at < 50; at++) await assert.rejects(limits.consume(email, '10.0.0.99'), tooMany(3600));
	await limits.consume('bob@example.com', '10.0.0.99');
});

test('attempts that did not fail leave no entry that evicts failed ones', async () => {
	const { limits } = limitsAt();
	await lock(limits);
	for (let at = 0; at < 60_000; at++) await (await limits.consume(`made-up-${at}@example.com`, '10.0.0.90'))();
	for (let at = 0; at < 60_000; at++) await (await limits.consume('bob@example.com', `10.1.${at >> 8}.${at & 255}`))();
	await assert.rejects(limits.consume(email, '10.0.0.99'), tooMany(3600));
	for (let at = 1; at <= 4; at++) await limits.consume(`eve${at}@example.com`, '10.0.0.1');
	await assert.rejects(limits.consume('eve5@example.com', '10.0.0.1'), tooMany(60), 'nor of an address');
});

test('a rejected address cannot evict failures, however many accounts it names', async () => {
	const { limits } = limitsAt();
	await lock(limits);
	let refused = 0;
	for (let at = 0; at < 200_000; at++) {
		try {
			await limits.consume(`made-up-${at}@example.com`, `10.1.0.${at % 200}`);
		} catch {
			refused++;
		}
	}
	assert.equal(refused, 199_000);
	await assert.rejects(limits.consume(email, '10.0.0.99'), tooMany(3600));
});

test('attempts on a locked account leave no entry of their address', async () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) await limits.consume(`user${at}@example.com`, '10.0.0.1');
	for (let at = 1; at <= 20; at++) await limits.consume(email, `10.0.0.${at + 1}`);
	for (let at = 0; at < 60_000; at++) {
		await assert.rejects(limits.consume(email, `10.1.${at >> 8}.${at & 255}`), tooMany(3600));
	}
	await assert.rejects(limits.consume('user6@example.com', '10.0.0.1'), tooMany(60));
});
