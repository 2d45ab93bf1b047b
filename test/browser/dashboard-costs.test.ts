import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createApiFixture } from '../api/fixture.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { ModelServer } from '../support/model-server.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';

const models = await ModelServer.start();
const prices = new Map([
	['small', { input: 150_000, output: 600_000 }],
	['large', { input: 500_000_000, output: 1_000_000_000 }],
]);
const settings = { allow_private_network: true, providers: [models.provider({ id: 'local', prices })] };
const app = await startOwnedApp({ ...settings, currency: 'EUR' });
after(async () => {
	await app[Symbol.asyncDispose]();
	await models[Symbol.asyncDispose]();
});

/** Asks a model of its own deployment. @returns the ids of the deployment and the conversation */
async function ask(model: string, name: string): Promise<{ deployment: string; conversation: string }> {
	const { deployment } = await createApiFixture(app, { model, texts: [], deployment: { name } });
	const { status, body } = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello' });
	assert.equal(status, 201, JSON.stringify(body));
	return { deployment, conversation: body.conversation_id };
}

const shop = await ask('local/large', 'The shop');
await ask('local/small', 'The blog');

/** The text of an element without the kinds of spaces that Intl puts beside currencies. */
const plain = (text: string | null) => (text ?? '').replace(/\s+/g, ' ');
const save = async (page: Page) => {
	await page.getByRole('button', { name: /^(Save|Speichern)$/ }).click();
	await page
		.getByText(/^(Saved|Gespeichert)/)
		.first()
		.waitFor();
};

test('an owner sets a budget of the workspace, and a text that is no amount is not saved', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, { bypassCSP: true }, '#/workspace');
	const { page } = owner;
	const budgetOf = async () => (await app.call('GET', '/api/v1/workspace')).body.budget;
	await page.getByLabel('Budget of the workspace').selectOption({ label: 'For each day' });
	const amount = page.getByLabel('Amount in EUR');
	assert.equal(await amount.inputValue(), '50.00');
	await amount.fill('ten');
	await page.getByText('Write an amount, such as 12.50.').waitFor();
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByText('Write an amount, such as 12.50.').waitFor();
	assert.equal(await budgetOf(), null);
	await amount.fill('');
	await amount.pressSequentially('1,234.5');
	await page.getByLabel('When it is used up').selectOption({ label: 'The built-in model answers' });
	await amount.press('Tab');
	assert.equal(await amount.inputValue(), '1,234.50', 'it is written in full after the field is left');
	await save(page);
	assert.deepEqual(await budgetOf(), { amount_micros: 1_234_500_000, period: 'day', at_limit: 'fallback' });
	await page.reload();
	assert.equal(await amount.inputValue(), '1,234.50');
	assert.deepEqual(await axeFindings(page), []);
	await page.getByLabel('Budget of the workspace').selectOption({ label: 'No limit' });
	await save(page);
	assert.equal(await budgetOf(), null);
	assert.deepEqual([owner.problems.filter((problem) => !problem.includes('400')), owner.foreignRequests], [[], []]);
});

test('a deployment gets a budget, and one for each visitor, in German', { skip }, async () => {
	await using browser = await startBrowser();
	const hash = `#/deployments/${shop.deployment}?tab=settings`;
	await using owner = await openDashboard(app, browser, { bypassCSP: true, locale: 'de-DE' }, hash);
	const { page } = owner;
	await page.getByLabel('Budget der Einbindung').selectOption({ label: 'Für jeden Monat' });
	await page.getByLabel('Betrag in EUR').fill('2,5');
	await page.getByLabel('Budget jedes Besuchers').selectOption({ label: 'Für jeden Tag' });
	await page.getByLabel('Betrag in EUR').nth(1).fill('0.25');
	await save(page);
	const { body } = await app.call('GET', `/api/v1/deployments/${shop.deployment}`);
	assert.deepEqual(
		[body.budget, body.visitor_budget],
		[
			{ amount_micros: 2_500_000, period: 'month', at_limit: 'refuse' },
			{ amount_micros: 250_000, period: 'day', at_limit: 'refuse' },
		],
	);
	assert.equal(await page.getByLabel('Betrag in EUR').nth(1).inputValue(), '0,25');
	assert.deepEqual(await axeFindings(page), []);
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('the overview shows costs by day, deployment and model, and the conversation shows its own', {
	skip,
}, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, { bypassCSP: true }, '#/overview');
	const { page } = owner;
	const { total } = (await app.call('GET', '/api/v1/costs')).body;
	// 11 tokens and 7 of each.
	assert.equal(total.cost_micros, 12_500 + 6);
	const figure = page.locator('.figure', { hasText: 'Costs' });
	await figure.waitFor();
	assert.match(plain(await figure.textContent()), /€0\.013since \d+ \w+ \d{4}/);
	await page.getByRole('heading', { name: 'Costs by day' }).waitFor();
	const rowsOf = async (name: string) =>
		(await page.getByRole('table', { name }).getByRole('row').allTextContents()).map(plain).slice(1);
	assert.deepEqual(await rowsOf('Costs by deployment'), ['The shop€0.013100%', 'The blog€0.0000060%']);
	assert.deepEqual(await rowsOf('Costs by model'), ['local/large€0.013100%', 'local/small€0.0000060%']);
	assert.deepEqual(await axeFindings(page), []);
	await page.getByRole('button', { name: '24 hours' }).click();
	await page.getByRole('heading', { name: 'Costs by day' }).waitFor({ state: 'detached' });
	await page
		.getByRole('row', { name: /local\/small/ })
		.last()
		.waitFor();
	await page.getByRole('table', { name: 'Costs by model' }).waitFor();
	assert.equal((await rowsOf('Costs by model')).length, 2);
	await page.goto(`${app.url}/dashboard#/inbox/${shop.conversation}`);
	await page.locator('.facts div', { hasText: 'Cost' }).getByText('€0.013').waitFor();
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('the choice of a model shows what it costs', { skip }, async () => {
	await using browser = await startBrowser();
	const { assistant } = await createApiFixture(app, { texts: [] });
	await using owner = await openDashboard(app, browser, {}, `#/assistants/${assistant}`);
	const { page } = owner;
	const model = page.getByLabel('Model', { exact: true });
	const options = async () => (await model.getByRole('option').allTextContents()).map(plain);
	await model.getByRole('option').nth(1).waitFor({ state: 'attached' });
	assert.deepEqual(await options(), [
		'builtin/extractive',
		'local/small · €0.15 in, €0.60 out',
		'local/large · €500.00 in, €1,000.00 out',
		'local/…',
	]);
	await model.selectOption('local/small');
	await page.getByText('Price of a million tokens: €0.15 in, €0.60 out.').waitFor();
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('a phone has room for budgets and costs', { skip }, async () => {
	await using browser = await startBrowser();
	const options = { viewport: { width: 360, height: 640 }, locale: 'de-DE', hasTouch: true };
	await using owner = await openDashboard(app, browser, options, '#/overview');
	const { page } = owner;
	for (const [hash, text] of [
		['#/overview', 'Kosten nach Einbindung'],
		[`#/deployments/${shop.deployment}?tab=settings`, 'Budget der Einbindung'],
		['#/workspace', 'Budget des Arbeitsbereichs'],
	] as const) {
		await page.goto(`${app.url}/dashboard${hash}`);
		await page.getByText(text, { exact: true }).first().waitFor();
		assert.equal(await overflowOf(page), 0, hash);
	}
});

test('nothing about costs is shown where no model has a price', { skip }, async () => {
	await using unpriced = await startOwnedApp();
	const { deployment, assistant } = await createApiFixture(unpriced, { texts: [] });
	const sent = { deployment_id: deployment, content: 'Hello' };
	const { conversation_id } = (await unpriced.call('POST', '/api/v1/messages', sent)).body;
	await using browser = await startBrowser();
	await using owner = await openDashboard(unpriced, browser, {}, '#/tools');
	const { page } = owner;
	const costs: string[] = [];
	const modelsAreLoaded = page.waitForResponse(/api\/v1\/models/).then((response) => response.finished());
	page.on('request', (request) => {
		if (request.url().includes('/api/v1/costs')) costs.push(request.url());
	});
	for (const [hash, text] of [
		['#/workspace', 'Name of the workspace'],
		[`#/deployments/${deployment}?tab=settings`, 'Time zone'],
		['#/overview', 'Tokens in'],
		[`#/inbox/${conversation_id}`, 'Started'],
		[`#/assistants/${assistant}`, 'Instructions'],
	] as const) {
		await page.goto(`${unpriced.url}/dashboard${hash}`);
		await page.getByText(text).first().waitFor();
		await modelsAreLoaded;
		assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /Cost(?!a Rica)|Budget |Price of/, hash);
	}
	assert.deepEqual(costs, []);
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});
