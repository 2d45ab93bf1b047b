import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addUser, PASSWORD } from '../access/people.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { loseSession, openDashboard, overflowOf, signIn, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

const ASSISTANTS = '/api/v1/assistants';
const EVENTS = '**/api/v1/events?*';

async function createAssistant(name: string): Promise<string> {
	const { status, body } = await app.call('POST', ASSISTANTS, { name });
	assert.equal(status, 201);
	return body.id;
}

test('a change by somebody else appears without a reload', { skip }, async () => {
	const id = await createAssistant('Before');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/assistants');
	const { page } = owner;
	await page.getByRole('link', { name: 'Before' }).waitFor();
	await app.call('PATCH', `${ASSISTANTS}/${id}`, { name: 'After' });
	await page.getByRole('link', { name: 'After' }).click();
	await page.getByRole('heading', { name: 'After' }).waitFor();
	await app.call('PATCH', `${ASSISTANTS}/${id}`, { name: 'Still later' });
	await page.getByRole('heading', { name: 'Still later' }).waitFor();
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('says calmly that the connection is lost, and shows what was missed when it is back', { skip }, async () => {
	const id = await createAssistant('Held up');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/no-such-page');
	const { page } = owner;
	await page.route(EVENTS, (route) => route.abort());
	await page.goto(`${app.url}/dashboard#/assistants`);
	await page.reload();
	await page.getByRole('link', { name: 'Held up' }).waitFor();
	const line = page.getByText('The connection to the server is lost.');
	await line.waitFor();
	await app.call('PATCH', `${ASSISTANTS}/${id}`, { name: 'Missed' });
	await page.unroute(EVENTS);
	await line.waitFor({ state: 'hidden' });
	await app.call('PATCH', `${ASSISTANTS}/${id}`, { name: 'Live again' });
	await page.getByRole('link', { name: 'Live again' }).waitFor();
});

test('a tab has one connection for live data, and signing out ends it', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await browser.visitor({ locale: 'en-GB' });
	const { page } = owner;
	await page.addInitScript(`
		const send = window.fetch;
		window.eventSignals = [];
		window.fetch = (request, init) => {
			if (request.url?.includes('/api/v1/events')) window.eventSignals.push(request.signal);
			return send(request, init);
		};
	`);
	const connections = () => page.evaluate('window.eventSignals.map(({ aborted }) => aborted)');
	await page.goto(`${app.url}/dashboard#/assistants`);
	await signIn(page);
	await page.getByRole('heading', { name: 'Assistants' }).waitFor();
	assert.deepEqual(await connections(), [false]);
	await page.getByRole('button', { name: 'Sign out' }).click();
	await page.getByRole('heading', { name: 'Sign in to Parley' }).waitFor();
	assert.deepEqual(await connections(), [true]);
});

test('a tab shows the user who has signed in in another tab', { skip }, async () => {
	await addUser(app, 'vera@example.com', 'viewer');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/assistants');
	const { page } = owner;
	await page.getByRole('button', { name: 'New assistant' }).first().click();
	await page.getByLabel('Name').fill('Of the owner');
	const other = await owner.context.newPage();
	await other.goto(`${app.url}/api/docs`);
	const credentials = JSON.stringify({ email: 'vera@example.com', password: PASSWORD });
	const status = await other.evaluate<number>(`fetch('/api/v1/session', {
		method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(credentials)},
	}).then(({ status }) => status)`);
	assert.equal(status, 201);
	await page.locator('.account').getByText('vera').waitFor();
	await page.getByRole('heading', { name: 'Assistants' }).waitFor();
	assert.equal(await page.getByRole('link', { name: 'People' }).count(), 0, 'a viewer sees no settings');
	assert.equal(await page.getByLabel('Name').count(), 0, 'the form of the owner has closed');
});

test('signing out after the session has ended forgets what was shown', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/assistants');
	const { page } = owner;
	await page.getByRole('heading', { name: 'Assistants' }).waitFor();
	await loseSession(owner, 'DELETE');
	await page.getByRole('button', { name: 'Sign out' }).click();
	await page.getByRole('heading', { name: 'Sign in to Parley' }).waitFor();
	assert.equal(await page.evaluate('sessionStorage.length'), 0);
});

test('an address with the name of a member of every object shows that there is no such page', { skip }, async () => {
	await using browser = await startBrowser();
	for (const name of ['constructor', '__proto__']) {
		await using owner = await openDashboard(app, browser, {}, `#/${name}`);
		await owner.page.getByRole('heading', { name: 'There is no such page' }).waitFor();
		assert.deepEqual(owner.problems, []);
	}
});

test('the rail collapses to icons and stays collapsed after a reload', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/assistants');
	const { page } = owner;
	const link = page.getByRole('navigation').getByRole('link', { name: 'Assistants' });
	const widthOf = async () => (await link.boundingBox())?.width ?? 0;
	const before = await widthOf();
	await page.getByRole('button', { name: 'Collapse the navigation' }).click();
	await page.getByRole('button', { name: 'Expand the navigation' }).waitFor();
	assert.ok((await widthOf()) < before / 2);
	await page.reload();
	await page.getByRole('button', { name: 'Expand the navigation' }).click();
	await page.getByRole('button', { name: 'Collapse the navigation' }).waitFor();
	assert.equal(await widthOf(), before);
});

test('a phone has the sections at the bottom, and the account in a menu', { skip }, async () => {
	await using browser = await startBrowser();
	const phone = { viewport: { width: 320, height: 640 }, hasTouch: true, bypassCSP: true };
	await using owner = await openDashboard(app, browser, phone, '#/assistants');
	const { page } = owner;
	await page.getByRole('navigation').getByRole('link', { name: 'Assistants' }).waitFor();
	const more = page.getByRole('button', { name: 'More' });
	await more.click();
	const menu = page.getByRole('dialog', { name: 'More' });
	await menu.getByRole('button', { name: 'Sign out' }).waitFor();
	assert.deepEqual(await axeFindings(page), []);
	assert.equal(await overflowOf(page), 0);
	await page.keyboard.press('Escape');
	await menu.waitFor({ state: 'hidden' });
	assert.equal(await more.evaluate((element) => element === element.ownerDocument.activeElement), true);
});

test('the palette opens by Ctrl+K, finds pages and assistants by keyboard, and returns the focus', {
	skip,
}, async () => {
	await createAssistant('Findable kettle');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, { bypassCSP: true }, '#/webhooks');
	const { page } = owner;
	const opener = page.getByRole('button', { name: 'Search' });
	await opener.focus();
	await page.keyboard.press('Control+k');
	const field = page.getByRole('combobox', { name: 'Search' });
	await field.waitFor();
	assert.deepEqual(await axeFindings(page), []);
	await page.keyboard.press('Escape');
	await field.waitFor({ state: 'hidden' });
	assert.equal(await opener.evaluate((element) => element === element.ownerDocument.activeElement), true);
	await page.keyboard.press('Control+k');
	await field.fill('findable');
	await page.getByRole('option', { name: 'Findable kettle' }).waitFor();
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'Findable kettle' }).waitFor();
	await page.keyboard.press('Control+k');
	await field.fill('no such thing anywhere');
	await page.getByText('Nothing was found.').waitFor();
	await field.fill('too');
	await page.getByRole('option', { name: 'Tools' }).click();
	await page.getByRole('heading', { name: 'Tools' }).waitFor();
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('the document has the frame of the page before the script runs, and a sentence for browsers without scripts', async () => {
	const text = await (await fetch(`${app.url}/dashboard`)).text();
	assert.match(text, /<div class="shell">/);
	assert.match(text, /<noscript><p>The dashboard needs JavaScript\./);
});
