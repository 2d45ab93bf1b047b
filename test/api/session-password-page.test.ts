import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { chromium } from 'playwright-core';
import type { FirstStartSecrets } from '../../src/access/index.ts';
import { OWNER, openCookieClient, PASSWORD } from '../access/people.ts';
import { startTestApp } from '../support/app.ts';
import { findProgram } from '../support/programs.ts';

const BROWSER = ['chromium', 'chromium-browser', 'google-chrome'].map(findProgram).find((path) => path !== null);
const executablePath = process.env.PARLEY_CHROMIUM ?? BROWSER;
const skip = executablePath === undefined && 'No Chromium was found: install one, or name it in PARLEY_CHROMIUM.';

let first: FirstStartSecrets | undefined;
const app = await startTestApp({
	overrides: {
		onFirstStart: (made) => {
			first = made;
		},
	},
});
after(() => app[Symbol.asyncDispose]());

test('the page loads nothing from other hosts, runs no foreign script and cannot be framed', async () => {
	for (const [path, type] of [
		['/set-password', 'text/html'],
		['/set-password/page.js', 'text/javascript'],
		['/set-password/page.css', 'text/css'],
	] as const) {
		const response = await fetch(app.url + path);
		assert.equal(response.status, 200, path);
		assert.ok(response.headers.get('content-type')?.startsWith(type), path);
		const policy = response.headers.get('content-security-policy') ?? '';
		for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
			assert.ok(policy.includes(rule), `${path}: ${policy}`);
		}
		assert.doesNotMatch(policy, /unsafe|https?:|\*/);
		assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
		const text = await response.text();
		assert.doesNotMatch(text, /https?:\/\/|<script>| on\w+="|style="/, path);
	}
});

test('a user opens the link, sets a password with the keyboard and is signed in to the dashboard', {
	skip,
}, async (t) => {
	assert.ok(first && executablePath);
	const profile = await mkdtemp(join(tmpdir(), 'parley-page-'));
	const browser = await chromium.launchPersistentContext(profile, {
		executablePath,
		headless: true,
		args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
	});
	t.after(async () => {
		await browser.close();
		await rm(profile, { recursive: true, force: true });
	});
	const page = await browser.newPage();
	const complaints: string[] = [];
	page.on('console', (message) => {
		// An error response appears in the console too; the page is expected to show it.
		if (message.type() === 'error' && !message.text().includes('400')) complaints.push(message.text());
	});
	page.on('pageerror', (error) => complaints.push(error.message));
	const asked: string[] = [];
	page.on('request', (request) => asked.push(new URL(request.url()).origin));

	await page.goto(`${app.url}/set-password`);
	await page.getByText('This address is not complete').waitFor();
	assert.equal(await page.getByLabel('New password').isVisible(), false);

	await page.goto(`${app.url}/set-password#${first.passwordToken}`);
	const field = page.getByLabel('New password');
	await field.waitFor();
	assert.equal(await page.locator('#password:focus').count(), 1);
	assert.equal(await field.getAttribute('type'), 'password');
	await page.keyboard.type('short');
	await page.keyboard.press('Enter');
	await page.getByRole('status').getByText('at least 12 characters').waitFor();
	assert.equal(await field.getAttribute('aria-invalid'), 'true');

	await page.getByLabel('Show it').check();
	assert.equal(await field.getAttribute('type'), 'text');
	await field.fill(PASSWORD);
	await page.getByRole('button', { name: 'Set password' }).click();
	await page.getByRole('navigation').first().waitFor();
	assert.equal(new URL(page.url()).pathname, '/dashboard', 'the page signs the person in');
	assert.equal(new URL(page.url()).hash, '', 'the token does not stay in the address bar');

	const signedIn = await openCookieClient(app).call('POST', '/api/v1/session', { email: OWNER, password: PASSWORD });
	assert.equal(signedIn.status, 201);

	await page.goto('about:blank');
	await page.goto(`${app.url}/set-password#${first.passwordToken}`);
	await page.getByLabel('New password').fill(PASSWORD);
	await page.keyboard.press('Enter');
	await page.getByRole('status').getByText('This link is not valid').waitFor();
	assert.deepEqual(complaints, []);
	assert.deepEqual(
		[...new Set(asked)].filter((origin) => origin !== 'null' && origin !== app.url),
		[],
	);
});
