import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createApiFixture } from '../api/fixture.ts';
import { OTHER_SITE, SHOP, shopPage, noBrowser as skip, startBrowser, startSite } from '../support/browser.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';
import { chatOn } from './shop.ts';

// Without the demo, which would let the server's own pages in.
const app = await startOwnedApp({ demo: false });
after(() => app[Symbol.asyncDispose]());

await createApiFixture(app, {
	texts: ['# Returns\n\nYou have 45 days to return an order. We refund the whole price within five working days.'],
});

/** Creates a deployment in the dashboard, allows the page at the address, and returns the copied snippet. */
async function deployInDashboard(page: Page, address: string, refused: string): Promise<string> {
	await page.getByRole('button', { name: 'New deployment' }).first().click();
	await page.getByLabel('Name').fill('The shop');
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	await page.getByRole('heading', { name: 'The shop' }).waitFor();
	await page.getByLabel('Greeting').fill('Welcome to the shop!');
	await page.getByRole('link', { name: 'Websites' }).click();
	const check = async (url: string) => {
		await page.getByLabel('Would this page be let in?').fill(url);
		await page.getByRole('button', { name: 'Check' }).click();
	};
	await check(address);
	await page.getByText('the list is empty').last().waitFor();
	await page.getByLabel('Allowed websites').fill(`*.shop.example\n${SHOP}:*`);
	await check(address);
	await page.getByText(`is let in by the entry ${SHOP}:*.`).waitFor();
	await check(refused);
	await page.getByText('is not let in: no entry matches.').waitFor();
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('Saved.').waitFor();
	await page
		.getByRole('region', { name: 'Put the chat on your website' })
		.getByRole('button', { name: 'Copy', exact: true })
		.click();
	await page.getByText('Copied.').waitFor();
	return (await page.evaluate('navigator.clipboard.readText()')) as string;
}

test('a deployment of the dashboard answers with a source on another origin, live in the inbox, and on no third one', {
	skip,
}, async () => {
	await using site = await startSite();
	await using browser = await startBrowser();
	await using owner = await openDashboard(
		app,
		browser,
		{ permissions: ['clipboard-read', 'clipboard-write'] },
		'#/deployments',
	);
	const inbox = await owner.context.newPage();
	await inbox.goto(`${app.url}/dashboard#/inbox`);
	await inbox.getByText('No conversation yet').waitFor();
	const snippet = await deployInDashboard(owner.page, site.url('/'), site.url('/', OTHER_SITE));
	site.serve('/', shopPage(snippet));

	await using visitor = await browser.visitor();
	await visitor.page.goto(site.url('/'));
	const chat = chatOn(visitor.page);
	await chat.open();
	await chat.panel.getByText('Welcome to the shop!').waitFor();
	await chat.askAndWait('How many days do I have to return an order?', '45 days');
	await chat.control('Source 1').first().click();
	await chat.panel.getByRole('group', { name: 'Source 1' }).getByText('You have 45 days').waitFor();

	// The open inbox shows the conversation without a reload.
	await inbox.getByRole('link', { name: 'How many days do I have to return an order?' }).click();
	const log = inbox.getByRole('log');
	await log.getByText('1 source').click();
	await log.locator('blockquote').getByText('You have 45 days').waitFor();
	await inbox.getByRole('complementary', { name: 'Visitor' }).getByText('The shop').waitFor();
	await chat.ask('Do I get the whole price?');
	await log.getByText('Do I get the whole price?').waitFor();

	await using stranger = await browser.visitor();
	const config = stranger.page.waitForResponse((response) => response.url().includes('/widget/config'));
	await stranger.page.goto(site.url('/', OTHER_SITE));
	assert.equal((await config).status(), 403);
	const refused = chatOn(stranger.page);
	await refused.button.click();
	await refused.panel.getByText('This chat is not available on this website.').waitFor();
	assert.equal(await refused.field.isEnabled(), false);
	assert.equal(await refused.panel.getByText('Welcome to the shop!').count(), 0);
	const { data } = (await app.call('GET', '/api/v1/conversations')).body;
	assert.equal(data.length, 1, 'only the visitor of the allowed website has a conversation');
	assert.deepEqual([owner.problems, visitor.problems, visitor.foreignRequests], [[], [], []]);
});
