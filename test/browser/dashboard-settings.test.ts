import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { addUser, openCookieClient, PASSWORD } from '../access/people.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, overflowOf, signIn, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

test('an owner makes a key that reads assistants only, copies it once, and revokes it', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/api-keys');
	const { page } = owner;
	await page.getByRole('button', { name: 'New key' }).click();
	await page.getByLabel('What uses it').fill('Price list');
	await page.getByLabel('Everything, also what later versions add').uncheck();
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	await page.getByText('Choose at least one.').waitFor();
	await page.getByRole('group', { name: 'Assistants' }).getByLabel('Read').check();
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByText('The key Price list').waitFor();
	const key = await dialog.getByRole('textbox').inputValue();
	const withKey = (path: string) => app.call('GET', path, undefined, { authorization: `Bearer ${key}` });
	assert.equal((await withKey('/api/v1/assistants')).status, 200);
	assert.equal((await withKey('/api/v1/tools')).status, 403);
	await dialog.getByRole('button', { name: 'I have stored it' }).click();
	await dialog.waitFor({ state: 'hidden' });
	assert.ok(!(await page.content()).includes(key), 'the key is nowhere on the page');
	const row = page.getByRole('row', { name: /Price list/ });
	await row.getByText('Assistants (Read)').waitFor();
	await row.getByRole('button', { name: 'Revoke' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
	await page.getByText('The key Price list was revoked.').waitFor();
	await row.waitFor({ state: 'detached' });
	assert.equal((await withKey('/api/v1/assistants')).status, 401);
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('an owner invites a viewer by a link, who sees no settings; the role changes, the person is removed', {
	skip,
}, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/people');
	const { page } = owner;
	await page.getByRole('button', { name: 'Invite' }).click();
	await page.getByLabel('E-mail address').fill('vera@example.com');
	await page.getByLabel('Name').fill('Vera');
	await page.getByLabel('Role', { exact: true }).selectOption('viewer');
	await page.getByRole('button', { name: 'Make the link' }).click();
	const dialog = page.getByRole('dialog');
	const link = await dialog.getByRole('textbox').inputValue();
	await dialog.getByRole('button', { name: 'I have stored it' }).click();
	const row = page.getByRole('row', { name: /Vera/ });
	await row.getByText('Invited').waitFor();

	const token = new URL(link).hash.slice(1);
	await openCookieClient(app).call('POST', '/api/v1/session/password', { token, password: PASSWORD });
	await using visitor = await browser.visitor({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
	await visitor.page.goto(`${app.url}/dashboard#/people`);
	await signIn(visitor.page, 'vera@example.com');
	await visitor.page.getByRole('heading', { name: 'There is no such page' }).waitFor();
	assert.equal(await visitor.page.getByRole('link', { name: 'API keys' }).count(), 0);
	await visitor.page.getByRole('link', { name: 'Account' }).waitFor();

	await page.getByLabel('Role of Vera').selectOption('agent');
	await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
	assert.equal(await page.getByLabel('Role of Vera').inputValue(), 'viewer');
	await page.getByLabel('Role of Vera').selectOption('agent');
	await page.getByRole('dialog').getByRole('button', { name: 'Change the role' }).click();
	await page.getByText('Vera has the role Agent now.').waitFor();
	await row.getByRole('button', { name: 'Remove' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
	await page.getByText('Vera was removed.').waitFor();
	await row.waitFor({ state: 'detached' });
});

test('an owner names the workspace, erases old conversations after a question, and exports the settings', {
	skip,
}, async () => {
	await app.call('POST', '/api/v1/assistants', { name: 'To export' });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/workspace');
	const { page } = owner;
	await page.getByLabel('Name of the workspace').fill('Kettle shop');
	await page.getByLabel('Keep conversations').selectOption('days');
	await page.getByLabel('Days').fill('90');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByRole('dialog').getByText('Erase conversations after 90 days?').waitFor();
	await page.getByRole('dialog').getByRole('button', { name: 'Erase older conversations' }).click();
	await page.getByText('Saved.').waitFor();
	const { body } = await app.call('GET', '/api/v1/workspace');
	assert.deepEqual([body.name, body.retention_days], ['Kettle shop', 90]);
	const started = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Export' }).click();
	const file = await (await started).path();
	const lines = (await readFile(file, 'utf8'))
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
	assert.equal(lines[1].resource.name, 'Kettle shop');
	assert.ok(lines.some(({ type, resource }) => type === 'assistant' && resource.name === 'To export'));
	await app.call('PATCH', '/api/v1/workspace', { retention_days: null });
});

test('two people change the workspace: the second sees both versions, and is asked before each erasure', {
	skip,
}, async () => {
	await app.call('PATCH', '/api/v1/workspace', { name: 'Shop', retention_days: null });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/workspace');
	const { page } = owner;
	const dialog = page.getByRole('dialog');
	await page.getByLabel('Keep conversations').selectOption('days');
	await page.getByLabel('Days').fill('4000');
	await app.call('PATCH', '/api/v1/workspace', { name: 'Tea shop' });
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await dialog.getByRole('button', { name: 'Erase older conversations' }).click();
	await page.getByRole('alert').getByRole('button', { name: 'Save mine' }).click();
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	assert.equal((await app.call('GET', '/api/v1/workspace')).body.retention_days, null, 'refused');
	await page.getByRole('alert').getByRole('button', { name: 'Save mine' }).click();
	await dialog.getByRole('button', { name: 'Erase older conversations' }).click();
	await page.getByText('Saved.').waitFor();
	const { body } = await app.call('GET', '/api/v1/workspace');
	assert.deepEqual([body.name, body.retention_days], ['Tea shop', 4_000], 'their name stays');
	assert.equal(await page.getByLabel('Name of the workspace').inputValue(), 'Tea shop');
	await app.call('PATCH', '/api/v1/workspace', { retention_days: null });
});

test('the audit log shows who changed what; its filters are in the address, and a row opens its details', {
	skip,
}, async () => {
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Watched' });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/assistants/${assistant.id}`);
	const { page } = owner;
	await page.getByLabel('Description').fill('Changed here');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('Saved.').waitFor();
	await page.getByRole('link', { name: 'Audit log' }).click();
	await page
		.getByRole('row', { name: /Watched/ })
		.first()
		.getByRole('button', { name: 'Changed' })
		.click();
	const dialog = page.getByRole('dialog');
	await dialog.getByText('updateAssistant').waitFor();
	await dialog.getByText('description', { exact: true }).waitFor();
	await dialog.getByRole('button', { name: 'Only this resource' }).click();
	await dialog.waitFor({ state: 'hidden' });
	assert.match(page.url(), /resource=asst_/);
	await page.getByText('Created', { exact: true }).waitFor();
	assert.equal(await page.getByRole('row').count(), 3);
	await page.reload();
	await page
		.getByRole('row', { name: /Watched/ })
		.first()
		.waitFor();
	assert.equal(await page.getByRole('row').count(), 3);
});

test('a person changes the password with the present one, and signs out another browser', { skip }, async () => {
	await addUser(app, 'pat@example.com', 'agent');
	await using browser = await startBrowser();
	await using visitor = await browser.visitor({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
	const { page } = visitor;
	await page.goto(`${app.url}/dashboard#/account`);
	await signIn(page, 'pat@example.com');
	const elsewhere = openCookieClient(app);
	await elsewhere.call('POST', '/api/v1/session', { email: 'pat@example.com', password: PASSWORD });
	await page.reload();
	await page.getByText('This browser', { exact: true }).waitFor();
	await page.getByRole('listitem').getByRole('button', { name: 'Sign out' }).click();
	await page.getByText('The session was ended.').waitFor();
	assert.equal((await elsewhere.call('GET', '/api/v1/session')).status, 401);
	const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Change the password' }) });
	await form.getByLabel('Current password').fill('not this one at all');
	await page.getByLabel('New password').fill('six swans on a river');
	await page.getByRole('button', { name: 'Change the password' }).click();
	await page.getByText('is not the present password').waitFor();
	await form.getByLabel('Current password').fill(PASSWORD);
	await page.getByRole('button', { name: 'Change the password' }).click();
	await page.getByText('The password was changed.').waitFor();
	assert.equal(await page.getByLabel('New password').inputValue(), '');
});

test('a list that cannot be loaded says so and can be tried again', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser);
	const { page } = owner;
	const users = '**/api/v1/users?*';
	await page.route(users, (route) => route.fulfill({ status: 403, json: { error: { message: 'No.' } } }));
	await page.goto(`${app.url}/dashboard#/people`);
	await page.reload();
	await page.getByRole('alert').getByText('This could not be loaded').waitFor();
	await page.unroute(users);
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.getByRole('row', { name: /owner@localhost/ }).waitFor();
});

test('axe finds nothing wrong in light and dark, in English and German, and a phone needs no sideways scrolling', {
	skip,
}, async () => {
	await using browser = await startBrowser();
	for (const [colorScheme, locale, width] of [
		['light', 'en-GB', 1440],
		['dark', 'de-DE', 320],
	] as const) {
		const options = { colorScheme, locale, bypassCSP: true, viewport: { width, height: 640 } };
		await using owner = await openDashboard(app, browser, options);
		const { page } = owner;
		const check = async (what: string) => {
			assert.deepEqual(await axeFindings(page), [], `${what} ${colorScheme}`);
			assert.equal(await overflowOf(page), 0, `${what} is wider than ${width} pixels`);
		};
		for (const hash of ['#/api-keys', '#/people', '#/workspace', '#/audit-log', '#/account']) {
			await page.goto(`${app.url}/dashboard${hash}`);
			await page.locator('h1').waitFor();
			await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
			await check(hash);
		}
		await page.goto(`${app.url}/dashboard#/api-keys`);
		await page.getByRole('button', { name: /New key|Neuer Schlüssel/ }).click();
		await page.getByLabel(/^Everything|^Alles/).uncheck();
		await check('the form of a key');
		await page.goto(`${app.url}/dashboard#/audit-log`);
		await page.locator('.link-button').first().click();
		await page.getByRole('dialog').waitFor();
		await check('the details of a record');
	}
});
