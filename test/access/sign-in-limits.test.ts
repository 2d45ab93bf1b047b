import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignInLimits } from '../../src/access/sign-in-limits.ts';
import { manualWallClock } from '../support/manual-clock.ts';

function limitsAt() {
	const clock = manualWallClock();
	return { clock, limits: new SignInLimits(clock) };
}

const tooMany = (seconds: number) => ({ code: 'rate_limit_exceeded', retry_after: seconds });

const HOUR = 3_600_000;
const email = 'ada@example.com';

/** Uses up an account's failures, each from another address. */
function lock(limits: SignInLimits, account = email): void {
	for (let at = 1; at <= 20; at++) limits.consume(account, `10.0.0.${at}`);
}

test('twenty failures an hour are allowed for one account, over all addresses', () => {
	const { clock, limits } = limitsAt();
	lock(limits);
	assert.throws(() => limits.consume(email, '10.0.1.1'), tooMany(3600));
	limits.consume('bob@example.com', '10.0.1.1');
	clock.advance(HOUR - 1_000);
	assert.throws(() => limits.consume(email, '10.0.1.1'), tooMany(1));
	clock.advance(1_000);
	limits.consume(email, '10.0.1.1');
});

test('five failures a minute are allowed on a known device, and count for neither the account nor the address', () => {
	const { clock, limits } = limitsAt();
	lock(limits);
	for (let at = 1; at <= 5; at++) limits.consumeForDevice('one');
	assert.throws(() => limits.consumeForDevice('one'), tooMany(60));
	limits.consumeForDevice('two');
	clock.advance(59_000);
	assert.throws(() => limits.consumeForDevice('one'), tooMany(1));
	clock.advance(1_000);
	for (let at = 0; at < 100; at++) limits.consumeForDevice('one')();
	limits.consumeForDevice('one');
});

test('twenty codes an hour may fail on the known devices of an account together, and count for no password', () => {
	const { clock, limits } = limitsAt();
	for (let at = 1; at <= 20; at++) limits.consumeCodeForDevice({ userId: 'ada', nonce: `device ${at}` });
	assert.throws(() => limits.consumeCodeForDevice({ userId: 'ada', nonce: 'another' }), tooMany(3600));
	limits.consumeCodeForDevice({ userId: 'bob', nonce: 'of bob' });
	for (let at = 1; at <= 5; at++) limits.consumeForDevice('another');
	clock.advance(HOUR);
	for (let at = 0; at < 100; at++) limits.consumeCodeForDevice({ userId: 'ada', nonce: 'another' })();
	for (let at = 1; at <= 5; at++) limits.consumeCodeForDevice({ userId: 'ada', nonce: 'another' });
	assert.throws(() => limits.consumeCodeForDevice({ userId: 'ada', nonce: 'another' }), tooMany(60));
});

test('at the limit an attempt can also be rejected without an error', () => {
	const { limits } = limitsAt();
	lock(limits);
	assert.equal(limits.tryConsume(email, '10.0.1.1'), null);
	assert.ok(limits.tryConsume('bob@example.com', '10.0.1.1'));
});

test('five failures a minute are allowed from one address, whatever the account', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.consume(`user${at}@example.com`, '10.0.0.1');
	assert.throws(() => limits.consume('user6@example.com', '10.0.0.1'), tooMany(60));
	limits.consume('user6@example.com', '10.0.0.2');
});

test('an IPv6 /64 counts as one address', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.consume(`user${at}@example.com`, `2001:db8:1:2:${at}::1`);
	assert.throws(() => limits.consume('user6@example.com', '2001:db8:1:2:ffff::1'), tooMany(60));
	limits.consume('user6@example.com', '2001:db8:1:3::1');
});

test('a successful sign-in uses up nothing', () => {
	const { limits } = limitsAt();
	for (let at = 0; at < 100; at++) limits.consume('ada@example.com', '10.0.0.1')();
	for (let at = 0; at < 5; at++) limits.consume('ada@example.com', '10.0.0.1');
	assert.throws(() => limits.consume('ada@example.com', '10.0.0.1'), tooMany(60));
});

test('an attempt that is rejected because its account is locked does not count for its address', () => {
	const { limits } = limitsAt();
	lock(limits);
	for (let at = 0; at < 50; at++) assert.throws(() => limits.consume(email, '10.0.0.99'), tooMany(3600));
	limits.consume('bob@example.com', '10.0.0.99');
});

test('attempts that did not fail leave no entry that evicts failed ones', () => {
	const { limits } = limitsAt();
	lock(limits);
	for (let at = 0; at < 60_000; at++) limits.consume(`made-up-${at}@example.com`, '10.0.0.90')();
	for (let at = 0; at < 60_000; at++) limits.consume('bob@example.com', `10.1.${at >> 8}.${at & 255}`)();
	assert.throws(() => limits.consume(email, '10.0.0.99'), tooMany(3600));
	for (let at = 1; at <= 4; at++) limits.consume(`eve${at}@example.com`, '10.0.0.1');
	assert.throws(() => limits.consume('eve5@example.com', '10.0.0.1'), tooMany(60), 'nor of an address');
});

test('a rejected address cannot evict failures, however many accounts it names', () => {
	const { limits } = limitsAt();
	lock(limits);
	let refused = 0;
	for (let at = 0; at < 200_000; at++) {
		try {
			limits.consume(`made-up-${at}@example.com`, `10.1.0.${at % 200}`);
		} catch {
			refused++;
		}
	}
	assert.equal(refused, 199_000);
	assert.throws(() => limits.consume(email, '10.0.0.99'), tooMany(3600));
});

test('attempts on a locked account leave no entry of their address', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.consume(`user${at}@example.com`, '10.0.0.1');
	for (let at = 1; at <= 20; at++) limits.consume(email, `10.0.0.${at + 1}`);
	for (let at = 0; at < 60_000; at++) {
		assert.throws(() => limits.consume(email, `10.1.${at >> 8}.${at & 255}`), tooMany(3600));
	}
	assert.throws(() => limits.consume('user6@example.com', '10.0.0.1'), tooMany(60));
});
