import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';

/** More than a page of the API, which has at most 100. */
const MANY = 150;

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

const nameOf = (kind: string, n: number) => `${kind} ${String(n).padStart(3, '0')}`;
const ids: Record<'assistant' | 'base' | 'tool', string[]> = { assistant: [], base: [], tool: [] };

async function create(path: string, body: object): Promise<string> {
	const created = await app.call('POST', path, body);
	assert.equal(created.status, 201, JSON.stringify(created.body));
	return created.body.id;
}

before(async () => {
	for (let n = 1; n <= MANY; n++) {
		ids.assistant.push(await create('/api/v1/assistants', { name: nameOf('Assistant', n) }));
		ids.base.push(await create('/api/v1/knowledge-bases', { name: nameOf('Base', n) }));
		const config = { method: 'GET', url: 'https://api.example.com/', parameters: { type: 'object', properties: {} } };
		ids.tool.push(await create('/api/v1/tools', { name: `tool_${n}`, type: 'api', config }));
	}
	for (let n = 1; n <= MANY; n++) {
		const body = { assistant_id: ids.assistant[0], name: nameOf('Site', n) };
		await create('/api/v1/deployments', body);
	}
	// Only the assistant that was created first, and so is listed last, has this tool.
	await app.call('POST', `/api/v1/assistants/${ids.assistant[0]}/tools`, { tool_id: ids.tool[0] });
});

const rowsOf = (page: Page) => page.locator('tbody tr');

test('every list shows the rows beyond its first page', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser);
	const { page } = owner;
	for (const [hash, last] of [
		['#/assistants', 'Assistant 001'],
		['#/knowledge', 'Base 001'],
		['#/tools', 'tool_1'],
		['#/deployments', 'Site 001'],
	] as const) {
		await page.goto(`${app.url}/dashboard${hash}`);
		await rowsOf(page).nth(99).waitFor();
		assert.equal(await rowsOf(page).count(), 100, hash);
		await page.getByRole('button', { name: 'Show more' }).click();
		await page.getByRole('link', { name: last, exact: true }).waitFor();
		assert.equal(await rowsOf(page).count(), MANY, hash);
		await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
	}
	assert.deepEqual(owner.problems, []);
});

test('a form offers all of 150 tools, bases and assistants, and finds them by name', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, { bypassCSP: true }, `#/assistants/${ids.assistant[0]}`);
	const { page } = owner;
	const tools = page.getByRole('group', { name: 'Tools' });
	await tools.getByText(`1 in use, ${MANY} of ${MANY} shown`).waitFor();
	assert.equal(await tools.getByRole('checkbox').count(), MANY);
	assert.equal(await tools.getByLabel('tool_1', { exact: true }).isChecked(), true);
	await tools.getByLabel('Find by name').fill('tool_2');
	await tools.getByText(`1 in use, 11 of ${MANY} shown`).waitFor();
	await tools.getByLabel('tool_2', { exact: true }).check();
	await tools.getByText(`2 in use, 11 of ${MANY} shown`).waitFor();
	const bases = page.getByRole('group', { name: 'Knowledge bases' });
	assert.equal(await bases.getByRole('checkbox').count(), MANY);
	await bases.getByLabel('Base 001').check();
	await bases.getByText(`1 in use, ${MANY} of ${MANY} shown`).waitFor();
	assert.deepEqual(await axeFindings(page), []);
	assert.equal(await overflowOf(page), 0);

	await page.goto(`${app.url}/dashboard#/deployments`);
	await page.getByRole('button', { name: 'New deployment' }).click();
	const options = page.getByLabel('Assistant', { exact: true }).locator('option');
	await options.nth(MANY - 1).waitFor({ state: 'attached' });
	assert.equal(await options.count(), MANY);

	await page.goto(`${app.url}/dashboard#/inbox`);
	const sites = page.getByLabel('Deployment', { exact: true }).locator('option');
	await sites.nth(MANY).waitFor({ state: 'attached' });
	assert.equal(await sites.count(), MANY + 1, 'all of them, and no filter');
	assert.deepEqual(owner.problems, []);
});

test('the question before a deletion names an assistant beyond the first hundred', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/tools/${ids.tool[0]}`);
	await owner.page.getByRole('button', { name: 'Delete' }).click();
	await owner.page.getByRole('dialog').getByText('Assistant 001').waitFor();
});

test('a list that is longer than its bound says so in words', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser);
	const { page } = owner;
	// Every page of the API has a next one.
	await page.route('**/api/v1/tools?limit=100*', async (route) => {
		const response = await route.fetch();
		const body = await response.json();
		await route.fulfill({ response, json: { ...body, next_cursor: body.next_cursor ?? body.data[0].id } });
	});
	await page.route('**/api/v1/tools?limit=100&cursor=tool_*', async (route) => {
		const url = new URL(route.request().url());
		url.searchParams.delete('cursor');
		const response = await route.fetch({ url: url.href });
		await route.fulfill({ response });
	});
	await page.goto(`${app.url}/dashboard#/assistants/${ids.assistant[0]}`);
	await page.getByRole('group', { name: 'Tools' }).getByText('Only the newest 1,000 are listed here.').waitFor();
});
