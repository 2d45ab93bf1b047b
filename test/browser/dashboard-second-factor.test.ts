import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { encode } from 'uqr';
import { addUser, PASSWORD } from '../access/people.ts';
import { totpCode } from '../access/totp.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { openDashboard, overflowOf, signIn, smallTargets, startOwnedApp } from './dashboard.ts';

const clock = manualWallClock();
const app = await startOwnedApp({}, { clock });
after(() => app[Symbol.asyncDispose]());

const STEP = 30_000;

/** Types in the password and scans the code, and returns the secret and the recovery codes. */
async function setUp(page: Page): Promise<{ secret: string; recoveryCodes: string[] }> {
	const card = page.getByRole('region', { name: /^(Second factor|Zweiter Faktor)$/ });
	await card.getByLabel(/Current password|Jetziges|Bisheriges|Aktuelles/).fill(PASSWORD);
	await card.getByRole('button', { name: /^(Set it up|Einrichten)$/ }).click();
	const secret = (await card.locator('code').textContent()) as string;
	assert.match(secret, /^[A-Z2-7]{32}$/);
	await card.getByRole('img').waitFor();
	await card.getByRole('textbox', { name: /Code/ }).fill('000000');
	await card.getByRole('button', { name: /Turn it on|Einschalten/ }).click();
	await card.getByText(/is not the present code|ist nicht der Code/).waitFor();
	await card.getByRole('textbox', { name: /Code/ }).fill(totpCode(secret, clock.now()));
	await card.getByRole('button', { name: /Turn it on|Einschalten/ }).click();
	const dialog = page.getByRole('dialog');
	const field = dialog.getByRole('textbox', { name: /Recovery codes|Wiederherstellungscodes/ });
	const recoveryCodes = (await field.inputValue()).split(' ');
	assert.equal(recoveryCodes.length, 10);
	await dialog.locator('.actions').getByRole('button').click();
	clock.advance(2 * STEP);
	return { secret, recoveryCodes };
}

async function typePassword(page: Page, email: string): Promise<void> {
	await page.getByLabel(/E-mail/i).fill(email);
	await page.getByLabel(/Passwor/).fill(PASSWORD);
	await page.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).click();
}

async function typeCode(page: Page, code: string): Promise<void> {
	await page.getByLabel('Code', { exact: true }).fill(code);
	await page.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).click();
}

for (const locale of ['en-GB', 'de-DE']) {
	test(`a person sets up a second factor, signs in with it and with a recovery code, and removes it (${locale})`, {
		skip,
	}, async () => {
		const email = `${locale.toLowerCase()}@factor.example`;
		await addUser(app, email, 'member');
		await using browser = await startBrowser();
		await using visitor = await openDashboard(app, browser, { locale, bypassCSP: true }, '#/account', email);
		const { page } = visitor;
		const { secret, recoveryCodes } = await setUp(page);
		const signOut = () => page.context().clearCookies({ name: 'parley_session' });
		await signOut();
		await page.reload();
		await typePassword(page, email);
		await page.getByLabel('Code', { exact: true }).waitFor();
		assert.deepEqual(await axeFindings(page), []);
		assert.deepEqual(await smallTargets(page), []);
		await typeCode(page, '123456');
		await page.getByText(/The code is wrong, or was used before|Der Code ist falsch/).waitFor();
		await typeCode(page, totpCode(secret, clock.now()));
		await page.getByRole('navigation').first().waitFor();
		await signOut();
		await page.reload();
		await typePassword(page, email);
		await typeCode(page, recoveryCodes[3] as string);
		const card = page.getByRole('region', { name: /^(Second factor|Zweiter Faktor)$/ });
		await card.getByLabel(/password|Passwort/).fill(PASSWORD);
		await card.getByRole('button', { name: /Remove|entfernen/ }).click();
		await page.getByText(/The second factor was removed|Der zweite Faktor wurde entfernt/).waitFor();
		await card.getByRole('button', { name: /^(Set it up|Einrichten)$/ }).waitFor();
	});
}

test('a workspace that requires a second factor shows its setup, on a phone too, and then the dashboard', {
	skip,
}, async () => {
	const email = 'required@factor.example';
	await addUser(app, email, 'member');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/workspace');
	await owner.page.getByLabel('Everybody needs a second factor').check();
	await owner.page.getByRole('button', { name: 'Save' }).click();
	await owner.page.getByRole('status').getByText('Saved').first().waitFor();
	const viewport = { width: 320, height: 640 };
	await using visitor = await browser.visitor({ viewport, locale: 'en-GB', bypassCSP: true });
	const { page } = visitor;
	await page.goto(`${app.url}/dashboard#/account`);
	await typePassword(page, email);
	await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
	assert.deepEqual(await axeFindings(page), []);
	assert.ok((await overflowOf(page)) <= 0);
	await setUp(page);
	await page.getByRole('heading', { name: 'Account' }).waitFor();
	assert.equal((await app.call('PATCH', '/api/v1/workspace', { require_totp: false })).status, 200);

	await owner.page.goto(`${app.url}/dashboard#/people`);
	await owner.page.reload();
	const row = owner.page.getByRole('row', { name: /required@factor/ });
	await row.getByRole('button', { name: 'Remove the second factor' }).click();
	await owner.page.getByRole('dialog').getByRole('button', { name: 'Remove the second factor' }).click();
	await owner.page.getByText('The second factor of required was removed.').waitFor();
	await using again = await browser.visitor({ locale: 'en-GB' });
	await again.page.goto(`${app.url}/dashboard`);
	await signIn(again.page, email);
});

test('the picture is the QR code of the URI', { skip }, async () => {
	const email = 'picture@factor.example';
	await addUser(app, email, 'member');
	await using browser = await startBrowser();
	await using visitor = await openDashboard(app, browser, {}, '#/account', email);
	const { page } = visitor;
	const begun = page.waitForResponse(/\/api\/v1\/session\/totp$/);
	const card = page.getByRole('region', { name: 'Second factor' });
	await card.getByLabel('Current password').fill(PASSWORD);
	await card.getByRole('button', { name: 'Set it up' }).click();
	const { uri } = (await (await begun).json()) as { uri: string };
	const path = (await card.locator('svg.qr-code path').getAttribute('d')) ?? '';
	const drawn = new Set([...path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`));
	const { data } = encode(uri, { border: 4 });
	const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : [])));
	assert.deepEqual([...drawn].toSorted(), dark.toSorted());
	assert.ok(dark.length > 300);
});
