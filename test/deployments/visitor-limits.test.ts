// Own process: it measures the heap.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AppError } from '../../src/base/index.ts';
import { visitorKey } from '../../src/deployments/visitor-key.ts';
import { VisitorLimits } from '../../src/deployments/visitor-limits.ts';

function limitsAt() {
	const clock = { at: Date.UTC(2026, 10, 20), now: () => clock.at };
	return { clock, limits: new VisitorLimits(clock) };
}

/** The seconds of the call's Retry-After; 0 where it was allowed. */
function waitOf(count: () => void): number {
	try {
		count();
		return 0;
	} catch (error) {
		assert.ok(error instanceof AppError, String(error));
		assert.deepEqual([error.code, error.status], ['rate_limit_exceeded', 429]);
		assert.ok(error.retry_after);
		assert.ok(error.message.includes(String(error.retry_after)), error.message);
		return error.retry_after;
	}
}

test('a visitor sends as many messages a minute as the deployment allows, then gets Retry-After', () => {
	const { clock, limits } = limitsAt();
	for (let sent = 0; sent < 3; sent++)
		assert.equal(
			waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 3)),
			0,
		);
	assert.equal(
		waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 3)),
		60,
	);
	clock.at += 60_000;
	assert.equal(
		waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 3)),
		0,
	);
});

test('visitors and deployments have separate message limits', () => {
	const { limits } = limitsAt();
	for (const [deployment, visitor] of [
		['dep_a', '192.0.2.1'],
		['dep_a', '192.0.2.2'],
		['dep_b', '192.0.2.1'],
	] as const) {
		assert.equal(
			waitOf(() => limits.countMessage(deployment, visitor, 1)),
			0,
		);
		assert.equal(
			waitOf(() => limits.countMessage(deployment, visitor, 1)),
			60,
		);
	}
});

test('allows 600 reads of the configuration a minute and address, separate from messages', () => {
	const { clock, limits } = limitsAt();
	for (let read = 0; read < 600; read++)
		assert.equal(
			waitOf(() => limits.countConfig('dep_a', '192.0.2.1')),
			0,
		);
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '192.0.2.1')),
		60,
	);
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '192.0.2.2')),
		0,
	);
	assert.equal(
		waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 1)),
		0,
	);
	clock.at += 60_000;
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '192.0.2.1')),
		0,
	);
});

test('counts other requests separately from messages and the configuration, 300 a minute for each visitor', () => {
	const { clock, limits } = limitsAt();
	const wait = (deployment: string, visitor: string) => waitOf(() => limits.countRequest(deployment, visitor));
	for (let asked = 0; asked < 300; asked++) assert.equal(wait('dep_a', '192.0.2.1'), 0);
	clock.at += 20_000;
	assert.equal(wait('dep_a', '192.0.2.1'), 40);
	assert.equal(wait('dep_a', '192.0.2.2'), 0);
	assert.equal(wait('dep_b', '192.0.2.1'), 0);
	assert.equal(
		waitOf(() => limits.countMessage('dep_a', '192.0.2.1', 1)),
		0,
	);
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '192.0.2.1')),
		0,
	);
	clock.at += 40_000;
	assert.equal(wait('dep_a', '192.0.2.1'), 0);
});

test('all addresses of an IPv6 /64 are one visitor, and those of another /64 are not', () => {
	const { limits } = limitsAt();
	const wait = (address: string) => waitOf(() => limits.countMessage('dep_a', visitorKey(null, address), 1));
	assert.equal(wait('2001:db8:1:2::1'), 0);
	assert.equal(wait('2001:db8:1:2:ffff:ffff:ffff:ffff'), 60);
	assert.equal(wait('2001:db8:1:3::1'), 0);
	for (let read = 0; read < 600; read++) {
		const address = `2001:db8:1:2:${read.toString(16)}::`;
		assert.equal(
			waitOf(() => limits.countConfig('dep_a', address)),
			0,
		);
	}
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '2001:db8:1:2:ffff::')),
		60,
	);
	assert.equal(
		waitOf(() => limits.countConfig('dep_a', '2001:db8:1:3::1')),
		0,
	);
});

/** Bytes in use after garbage collection: heap and buffers. */
function memoryInUse(): number {
	setFlagsFromString('--expose-gc');
	(runInNewContext('gc') as () => void)();
	const { heapUsed, arrayBuffers } = process.memoryUsage();
	return heapUsed + arrayBuffers;
}

const MEGABYTE = 1_000_000;
/** All visitors that are remembered (VISITORS=full), or a tenth of them with a tenth of the memory. */
const isFull = process.env.VISITORS === 'full';
const PART = isFull ? 1 : 10;
/** What the process itself allocates meanwhile: compiled code, for example. */
const UNRELATED = MEGABYTE;

test('a quarter of a million visitors with made-up addresses stay within the memory bound, and the latest are still counted', () => {
	const { limits } = limitsAt();
	const before = memoryInUse();
	const addressOf = (visitor: number) =>
		visitor % 2 === 0
			? `10.${(visitor >> 16) & 255}.${(visitor >> 8) & 255}.${visitor & 255}`
			: `2001:db8:${(visitor >> 16).toString(16)}:${(visitor & 0xffff).toString(16)}::1`;
	for (let visitor = 0; visitor < 250_000; visitor++) {
		limits.countConfig('dep_a', addressOf(visitor));
		void limits.countMessage('dep_a', visitorKey(null, addressOf(visitor)), 1);
		void limits.countRequest('dep_a', visitorKey(null, addressOf(visitor)));
	}
	const { configs, ...others } = limits.size;
	assert.ok(configs >= 20_000 && configs <= 40_000, `${configs} readers of the configuration`);
	assert.deepEqual(others, { messages: 100_000, requests: 100_000 });
	const used = memoryInUse() - before;
	assert.ok(used < 120 * MEGABYTE, `${Math.round(used / MEGABYTE)} MB`);
	const wait = (visitor: number) => waitOf(() => limits.countMessage('dep_a', visitorKey(null, addressOf(visitor)), 1));
	assert.equal(wait(249_999), 60);
	assert.equal(wait(150_000), 60);
	assert.equal(wait(0), 0, 'forgotten long ago');
});

test('the bound of readers of the configuration, each at its limit, takes less than 60 MB', () => {
	const { limits } = limitsAt();
	const before = memoryInUse();
	const addresses = Array.from({ length: 20_000 / PART }, (_, reader) => `10.0.${reader >> 8}.${reader & 255}`);
	for (let read = 0; read < 600; read++) {
		for (const address of addresses) limits.countConfig('dep_a', address);
	}
	const used = memoryInUse() - before;
	assert.ok(used < (60 * MEGABYTE) / PART + UNRELATED, `${used / MEGABYTE} MB`);
	for (const reader of [0, 777, 20_000 / PART - 1]) {
		assert.equal(
			waitOf(() => limits.countConfig('dep_a', `10.0.${reader >> 8}.${reader & 255}`)),
			60,
			'each is still counted exactly',
		);
	}
});

test('any number of visitors at their request limit take less than 60 MB', () => {
	const { limits } = limitsAt();
	const before = memoryInUse();
	const visitor = (at: number) => visitorKey(null, `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
	const visitors = 30_000 / PART;
	for (let at = 0; at < visitors; at++) {
		const key = visitor(at);
		for (let asked = 0; asked < 300; asked++) void limits.countRequest('dep_a', key);
	}
	const used = memoryInUse() - before;
	assert.ok(used < (60 * MEGABYTE) / PART + UNRELATED, `${used / MEGABYTE} MB`);
	assert.ok(limits.size.requests > visitors / 1.5);
	assert.equal(
		waitOf(() => limits.countRequest('dep_a', visitor(visitors - 1))),
		60,
	);
});

test('visitors who may send ten thousand messages a minute stay within the memory bound', () => {
	const { limits } = limitsAt();
	const before = memoryInUse();
	for (let visitor = 0; visitor < 2_000 / PART; visitor++) {
		const key = visitorKey(null, `10.1.${visitor >> 8}.${visitor & 255}`);
		for (let sent = 0; sent < 5_000; sent++) void limits.countMessage('dep_a', key, 10_000);
	}
	const used = memoryInUse() - before;
	if (isFull) assert.ok(limits.size.messages < 2_000, 'those not seen for longest were forgotten');
	assert.ok(used < (40 * MEGABYTE) / PART, `${used / MEGABYTE} MB`);
});
