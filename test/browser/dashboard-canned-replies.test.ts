import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

const PATH = '/api/v1/canned-replies';

test('a person writes a canned reply, changes it, and deletes it after a question', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/canned-replies');
	const { page } = owner;
	await page.getByText('No canned replies yet').waitFor();
	await page.getByRole('link', { name: 'New canned reply' }).first().click();
	await page.getByLabel('Shortcut').fill('two words');
	await page.getByLabel('Text', { exact: true }).fill('We are open from ten to six.');
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	await page.locator('.field-error').getByText('must have no spaces').waitFor();
	await page.getByLabel('Shortcut').fill('hours');
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	await page.getByRole('link', { name: '/hours' }).click();
	await page.getByLabel('Text', { exact: true }).fill('We are open from nine to six.');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await until('the change is stored', async () => {
		const { data } = (await app.call('GET', PATH)).body;
		assert.deepEqual([data.length, data[0].shortcut], [1, 'hours']);
		return data[0].content === 'We are open from nine to six.';
	});
	await page.getByRole('button', { name: 'Delete this canned reply' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete this canned reply' }).click();
	await page.getByText('No canned replies yet').waitFor();
	assert.deepEqual((await app.call('GET', PATH)).body.data, []);
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('the list and the form have no accessibility problems, in light and dark, in German and on a phone', {
	skip,
}, async () => {
	const content = 'Donaudampfschifffahrtsgesellschaftskapitän '.repeat(20);
	const { body } = await app.call('POST', PATH, { shortcut: 'x'.repeat(40), content });
	await using browser = await startBrowser();
	for (const colorScheme of ['light', 'dark'] as const) {
		await using owner = await openDashboard(
			app,
			browser,
			{ colorScheme, locale: 'de-DE', bypassCSP: true },
			'#/canned-replies',
		);
		const { page } = owner;
		await page.getByRole('heading', { name: 'Textbausteine' }).waitFor();
		await page.getByRole('link', { name: `/${'x'.repeat(40)}` }).waitFor();
		assert.deepEqual(await axeFindings(page), []);
		if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/canned-list-${colorScheme}.png` });
		await page.setViewportSize({ width: 320, height: 640 });
		assert.equal(await overflowOf(page), 0);
		await page.goto(`${app.url}/dashboard#/canned-replies/${body.id}`);
		await page.getByLabel('Kürzel').waitFor();
		assert.deepEqual(await axeFindings(page), []);
		assert.equal(await overflowOf(page), 0);
		if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/canned-form-${colorScheme}.png` });
	}
	await app.call('DELETE', `${PATH}/${body.id}`);
});

test('a list that cannot be loaded says so, and is loaded by a retry', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/assistants');
	const { page, context } = owner;
	await context.route('**/api/v1/canned-replies**', (route) =>
		route.fulfill({ status: 400, json: { error: { code: 'invalid_request', message: 'It broke.' } } }),
	);
	await page.goto(`${app.url}/dashboard#/canned-replies`);
	await page.getByText('It broke.').waitFor();
	await context.unroute('**/api/v1/canned-replies**');
	await page.getByRole('button', { name: /again/i }).click();
	await page.getByText('No canned replies yet').waitFor();
});
