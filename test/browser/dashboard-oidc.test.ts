import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startIssuer } from '../access/identity-provider.ts';
import { startTestApp } from '../support/app.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { overflowOf, smallTargets, startOwnedApp } from './dashboard.ts';

const issuer = await startIssuer();
after(() => issuer[Symbol.asyncDispose]());
const settings = { ...issuer.settings, oidc_label: 'Example ID' };
issuer.people.set('ada', { email: 'ada@login.example', email_verified: true, name: 'Ada', groups: ['admins'] });
issuer.people.set('eve', { email: 'eve@login.example', email_verified: true, name: 'Eve', groups: [] });

/** Signs a person in on the page of the issuer. */
async function signInAtIssuer(page: Page, login: string): Promise<void> {
	await page.getByRole('button', { name: /^(Sign in with Example ID|Mit Example ID anmelden)$/ }).click();
	await page.getByPlaceholder('Enter any login').fill(login);
	await page.getByPlaceholder('and password').fill('any');
	await page.getByRole('button', { name: 'Sign-in' }).click();
}

for (const locale of ['en-GB', 'de-DE']) {
	test(`a person signs in with the identity provider and comes back to the same page (${locale})`, {
		skip,
	}, async () => {
		await using app = await startOwnedApp(settings);
		await using browser = await startBrowser();
		const viewport = { width: 360, height: 640 };
		await using visitor = await browser.visitor({ viewport, locale, bypassCSP: true });
		const { page } = visitor;
		await page.goto(`${app.url}/dashboard#/account`);
		await page.getByLabel(/Passwor/).waitFor();
		assert.deepEqual(await axeFindings(page), []);
		assert.deepEqual(await smallTargets(page), []);
		assert.ok((await overflowOf(page)) <= 0);
		await signInAtIssuer(page, 'ada');
		await page.getByRole('heading', { name: /^(Account|Konto)$/ }).waitFor();
		assert.equal(page.url(), `${app.url}/dashboard#/account`, 'the code is not in the address');
		await page.getByLabel('Name').waitFor();
		assert.equal(await page.getByLabel(/Current password|Jetziges Passwort/).count(), 0, 'there is no password');
		await page.reload();
		await page.getByRole('heading', { name: /^(Account|Konto)$/ }).waitFor();
	});
}

test('a person without a role sees why, and may sign in as somebody else', { skip }, async () => {
	await using app = await startOwnedApp(settings);
	await using browser = await startBrowser();
	await using visitor = await browser.visitor({ locale: 'de-DE' });
	const { page } = visitor;
	await page.goto(`${app.url}/dashboard`);
	await signInAtIssuer(page, 'eve');
	await page.getByRole('alert').getByText('Der Identitätsdienst gibt Ihnen auf diesem Server keine Rolle.').waitFor();
	assert.equal(page.url(), `${app.url}/dashboard`);
	await page.context().clearCookies();
	await signInAtIssuer(page, 'ada');
	await page.getByRole('navigation').first().waitFor();
});

test('an answer that this browser did not ask for is refused', { skip }, async () => {
	await using app = await startOwnedApp(settings);
	const begun = await fetch(`${app.url}/api/v1/session/oidc`, { method: 'POST', headers: { origin: app.url } });
	const { url } = (await begun.json()) as { url: string };
	const answer = new URLSearchParams(await issuer.authenticate(url, 'ada'));
	await using browser = await startBrowser();
	await using visitor = await browser.visitor({ locale: 'en-GB' });
	const { page } = visitor;
	await page.goto(`${app.url}/dashboard?${answer}`);
	await page.getByRole('alert').getByText('was begun in another browser or tab').waitFor();
	assert.equal(page.url(), `${app.url}/dashboard`);
	await page.reload();
	await page.getByRole('button', { name: 'Sign in with Example ID' }).waitFor();
});

test('with passwords off, the page has the identity provider only, and says if it cannot be reached', {
	skip,
}, async () => {
	await using app = await startTestApp({ settings: { ...settings, password_sign_in: false } });
	await using browser = await startBrowser();
	await using visitor = await browser.visitor({ locale: 'en-GB', bypassCSP: true });
	const { page } = visitor;
	await page.goto(`${app.url}/dashboard`);
	const button = page.getByRole('button', { name: 'Sign in with Example ID' });
	await button.waitFor();
	assert.deepEqual([await page.getByLabel(/Password/).count(), await axeFindings(page)], [0, []]);
	issuer.intercept = (_, response) => {
		response.writeHead(503).end();
		return true;
	};
	await button.click();
	await page.getByRole('alert').getByText('The identity provider gave an answer').waitFor();
	issuer.intercept = () => false;
	await signInAtIssuer(page, 'ada');
	await page.getByRole('navigation').first().waitFor();
});
