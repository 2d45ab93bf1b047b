import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { OWNER } from '../access/people.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

test('errors of the server are in the language of the person: as a page, beside a field, in a form', {
	skip,
}, async () => {
	await using browser = await startBrowser();
	const stranger = await browser.visitor({ locale: 'de-DE' });
	await stranger.page.goto(`${app.url}/dashboard`);
	await stranger.page.getByLabel(/E-Mail/).fill(OWNER);
	await stranger.page.getByLabel('Passwort').fill('not the password');
	await stranger.page.getByRole('button', { name: 'Anmelden' }).click();
	await stranger.page.getByText('E-Mail oder Passwort ist falsch.').waitFor();
	await stranger[Symbol.asyncDispose]();

	await using owner = await openDashboard(app, browser, { locale: 'de-DE' }, '#/assistants/asst_none');
	const { page } = owner;
	await page.getByText('Das gibt es nicht, oder nicht mehr.').waitFor();

	await page.goto(`${app.url}/dashboard#/canned-replies/new`);
	await page.getByLabel('Kürzel').fill('a b');
	await page.getByLabel('Text', { exact: true }).fill('Guten Tag!');
	await page.getByRole('button', { name: 'Anlegen', exact: true }).click();
	const error = page.locator('.field-error');
	await error.waitFor();
	assert.equal(await error.textContent(), 'darf keine Leerzeichen, Schrägstriche und Steuerzeichen haben');
});
