import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../../src/base/index.ts';
import { RobotsCache } from '../../../src/knowledge/sources/robots-cache.ts';
import type { Download } from '../../../src/net/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const PAGE = new URL('https://shop.example/private/a');
const DISALLOW = 'User-agent: *\nDisallow: /private';
const { signal } = new AbortController();

/** A cache whose every request is answered by `answer`. */
function cacheOf(answer: () => { status: number; body?: string } | AppError) {
	const clock = new ManualClock();
	const requests: string[] = [];
	const download = async (url: string): Promise<Download> => {
		requests.push(url);
		const given = answer();
		if (given instanceof AppError) throw given;
		const { status, body = '' } = given;
		return {
			finalUrl: url,
			status,
			headers: {},
			body: (async function* () {
				yield Buffer.from(body);
			})(),
			async [Symbol.asyncDispose]() {},
		};
	};
	const robots = new RobotsCache({ network: { download }, clock });
	const allows = async () => (await robots.rulesFor(PAGE, signal)).allows(PAGE.pathname);
	return { clock, requests, robots, allows };
}

test('the rules of a site are kept for a day', async () => {
	let body = DISALLOW;
	const { clock, requests, allows } = cacheOf(() => ({ status: 200, body }));
	assert.deepEqual(await Promise.all([allows(), allows()]), [false, false]);
	body = '';
	clock.advance(23 * 3_600_000);
	assert.equal(await allows(), false);
	assert.deepEqual(requests, ['https://shop.example/robots.txt']);
	clock.advance(3_600_000);
	assert.equal(await allows(), true);
	assert.equal(requests.length, 2);
});

test('without a robots.txt, or with redirects that do not end, everything is allowed', async () => {
	for (const status of [400, 401, 403, 404, 410, 301]) {
		assert.equal(await cacheOf(() => ({ status, body: DISALLOW })).allows(), true, `${status}`);
	}
});

test('while the rules are unknown nothing is allowed, and they are requested again a minute later', async () => {
	let isDown = true;
	const broken = new AppError('unreadable_file', 'Could not connect to shop.example.');
	for (const failure of [{ status: 500 }, { status: 503 }, { status: 429 }, broken]) {
		isDown = true;
		const { clock, requests, allows } = cacheOf(() => (isDown ? failure : { status: 404 }));
		await assert.rejects(allows(), {
			code: 'unreadable_file',
			message: /robots\.txt of shop\.example could not be read/,
		});
		isDown = false;
		await assert.rejects(allows(), /could not be read/);
		assert.equal(requests.length, 1);
		clock.advance(60_000);
		assert.equal(await allows(), true);
	}
});

test('a site at a refused address says so', async () => {
	const refused = new AppError('url_not_allowed', 'The host shop.example is not on the public internet.');
	await assert.rejects(cacheOf(() => refused).allows(), refused);
});

test('a shortage of this server is not kept', async () => {
	let isShort = true;
	const { allows } = cacheOf(() => (isShort ? new AppError('unavailable') : { status: 404 }));
	await assert.rejects(allows(), { code: 'unavailable' });
	isShort = false;
	assert.equal(await allows(), true);
});
