import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignInLimits } from '../../src/access/sign-in-limits.ts';
import { standingClock } from './people.ts';

function limitsAt() {
	const clock = standingClock();
	return { clock, limits: new SignInLimits(clock) };
}

const tooMany = (seconds: number) => ({ code: 'rate_limit_exceeded', retry_after: seconds });

test('five failures a minute are allowed for one account, from wherever they come', () => {
	const { clock, limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.take('ada@example.com', `10.0.0.${at}`);
	assert.throws(() => limits.take('ada@example.com', '10.0.0.6'), tooMany(60));
	limits.take('bob@example.com', '10.0.0.6');
	clock.advance(59_000);
	assert.throws(() => limits.take('ada@example.com', '10.0.0.6'), tooMany(1));
	clock.advance(1_000);
	limits.take('ada@example.com', '10.0.0.6');
});

test('five failures a minute are allowed from one address, whatever the account', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.take(`user${at}@example.com`, '10.0.0.1');
	assert.throws(() => limits.take('user6@example.com', '10.0.0.1'), tooMany(60));
	limits.take('user6@example.com', '10.0.0.2');
});

test('an IPv6 line is one address, whichever of its many it uses', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.take(`user${at}@example.com`, `2001:db8:1:2:${at}::1`);
	assert.throws(() => limits.take('user6@example.com', '2001:db8:1:2:ffff::1'), tooMany(60));
	limits.take('user6@example.com', '2001:db8:1:3::1');
});

test('who gets in has used nothing up', () => {
	const { limits } = limitsAt();
	for (let at = 0; at < 100; at++) limits.take('ada@example.com', '10.0.0.1')();
	for (let at = 0; at < 5; at++) limits.take('ada@example.com', '10.0.0.1');
	assert.throws(() => limits.take('ada@example.com', '10.0.0.1'), tooMany(60));
});

test('an attempt that was not judged, because its account is locked, is no failure of its address', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.take('ada@example.com', `10.0.0.${at}`);
	for (let at = 0; at < 50; at++) assert.throws(() => limits.take('ada@example.com', '10.0.0.9'), tooMany(60));
	limits.take('bob@example.com', '10.0.0.9');
});

test('attempts that did not fail leave nothing behind that pushes out those that did', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.take('ada@example.com', `10.0.0.${at}`);
	for (let at = 0; at < 60_000; at++) limits.take(`made-up-${at}@example.com`, '10.0.0.9')();
	for (let at = 0; at < 60_000; at++) limits.take('bob@example.com', `10.1.${at >> 8}.${at & 255}`)();
	assert.throws(() => limits.take('ada@example.com', '10.0.0.6'), tooMany(60));
	for (let at = 1; at <= 4; at++) limits.take(`eve${at}@example.com`, '10.0.0.1');
	assert.throws(() => limits.take('eve5@example.com', '10.0.0.1'), tooMany(60), 'nor of an address');
});

test('an address that is refused makes nobody’s failures forgotten, however many accounts it names', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.take('ada@example.com', `10.0.0.${at}`);
	let refused = 0;
	for (let at = 0; at < 200_000; at++) {
		try {
			limits.take(`made-up-${at}@example.com`, `10.1.0.${at % 200}`);
		} catch {
			refused++;
		}
	}
	assert.equal(refused, 199_000);
	assert.throws(() => limits.take('ada@example.com', '10.0.0.6'), tooMany(60));
});

test('attempts on an account that is locked leave nothing behind of where they come from', () => {
	const { limits } = limitsAt();
	for (let at = 1; at <= 5; at++) limits.take(`user${at}@example.com`, '10.0.0.1');
	for (let at = 1; at <= 5; at++) limits.take('ada@example.com', `10.0.0.${at + 1}`);
	for (let at = 0; at < 60_000; at++) {
		assert.throws(() => limits.take('ada@example.com', `10.1.${at >> 8}.${at & 255}`), tooMany(60));
	}
	assert.throws(() => limits.take('user6@example.com', '10.0.0.1'), tooMany(60));
});
