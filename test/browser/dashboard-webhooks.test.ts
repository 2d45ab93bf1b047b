import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { httpServer } from '../net/servers.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp({ allow_private_network: true });
after(() => app[Symbol.asyncDispose]());

/** Causes an event `assistant.updated`. */
async function changeAssistant(): Promise<void> {
	const { id } = (await app.call('POST', '/api/v1/assistants', { name: 'Kettle help' })).body;
	assert.equal((await app.call('PATCH', `/api/v1/assistants/${id}`, { name: 'Kettles' })).status, 200);
}

/** Whether the document, the storage of the tab or its address has a text. */
function hasTrace(page: Page, text: string): Promise<boolean> {
	return page.evaluate(`(() => {
		const fields = [...document.querySelectorAll('input, textarea')].map((field) => field.value);
		const stored = [localStorage, sessionStorage].map((storage) => JSON.stringify({ ...storage }));
		return [document.documentElement.outerHTML, location.href, ...fields, ...stored].join(' ').includes(${JSON.stringify(text)});
	})()`);
}

test('an owner registers a webhook, whose secret is shown once, and replaces it', { skip }, async () => {
	await using server = await httpServer((_request, response) => void response.end());
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/webhooks');
	const { page } = owner;
	await page.getByRole('link', { name: 'New webhook' }).first().click();
	await page.getByLabel('URL').fill('ftp://example.com');
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	await page.locator('.field-error').first().waitFor();
	await page.getByLabel('URL').fill(`${server.origin}/hook`);
	await page.getByLabel('All events').uncheck();
	await page.getByLabel('A conversation is archived').uncheck();
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	const dialog = page.getByRole('dialog');
	const secret = await dialog.getByLabel('Signing secret').inputValue();
	assert.match(secret, /^whsec_/);
	assert.ok(!page.url().includes(secret));
	await page.keyboard.press('Escape');
	assert.ok(await dialog.isVisible(), 'Escape does not lose the secret');
	await dialog.getByRole('button', { name: 'I have stored it' }).click();
	await dialog.waitFor({ state: 'hidden' });
	assert.equal(await hasTrace(page, secret), false);
	const { data } = (await app.call('GET', '/api/v1/webhooks')).body;
	assert.equal(data.length, 1);
	assert.ok(!data[0].events.includes('conversation.closed') && data[0].events.includes('message.created'));

	await page.locator('.tabs').getByRole('link', { name: 'Settings' }).click();
	await page.getByRole('button', { name: 'Replace the secret' }).click();
	await page.getByRole('dialog').getByText('24 hours').waitFor();
	await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
	const newSecret = await dialog.getByLabel('Signing secret').inputValue();
	assert.notEqual(newSecret, secret);
	await dialog.getByRole('button', { name: 'I have stored it' }).click();
	await dialog.waitFor({ state: 'hidden' });
	assert.equal(await hasTrace(page, newSecret), false);
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('a failed delivery shows its attempts, and arrives when it is retried after the receiver was mended', {
	skip,
}, async () => {
	await using receiver = await startReceiver(app, ['assistant.updated']);
	receiver.respond = () => ({ status: 503, body: 'closed for maintenance' });
	await changeAssistant();
	await receiver.waitFor(1);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/webhooks/${receiver.id}`);
	const { page } = owner;
	await page.getByRole('button', { name: 'Send a ping' }).click();
	await page.getByText('The ping was not delivered').waitFor();
	await page.getByRole('link', { name: 'assistant.updated' }).first().click();
	await page.getByText('Attempt 1', { exact: true }).waitFor();
	// A later attempt appears above it.
	const attempt = page.locator('.attempts > li').filter({ hasText: 'Attempt 1' });
	await attempt.getByText('503', { exact: true }).waitFor();
	await attempt.getByText('Beginning of the answer').click();
	await attempt.getByText('closed for maintenance').waitFor();
	await page.getByText('"Kettles"').first().waitFor();
	receiver.respond = () => ({ status: 204 });
	await page.getByRole('button', { name: 'Deliver again' }).click();
	await page.getByText('Delivered', { exact: true }).waitFor();
	await page.getByRole('link', { name: receiver.url }).click();
	await page.getByRole('button', { name: 'Send a ping' }).click();
	await page.getByText('The ping was delivered: status 204').waitFor();
});

test('a delivery and its outcome appear in the list without a reload', { skip }, async () => {
	await using receiver = await startReceiver(app, ['assistant.updated']);
	receiver.respond = () => ({ status: 503 });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/webhooks/${receiver.id}`);
	const { page } = owner;
	await page.getByText('No deliveries yet').waitFor();
	await changeAssistant();
	const row = page.getByRole('row', { name: 'assistant.updated' });
	await row.getByText('Waiting').waitFor();
	await row.getByText('503').waitFor();
	receiver.respond = () => ({ status: 204 });
	await row.getByText('Delivered').waitFor();
});

test('filters are in the address, and a time range is replayed after a question', { skip }, async () => {
	await using receiver = await startReceiver(app, ['assistant.updated']);
	await changeAssistant();
	const count = (await receiver.waitFor(1)).length;
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/webhooks/${receiver.id}`);
	const { page } = owner;
	await page.getByRole('button', { name: 'Delivered' }).click();
	await page.getByRole('link', { name: 'assistant.updated' }).first().waitFor();
	assert.match(page.url(), /status=delivered/);
	await page.getByLabel('Event', { exact: true }).selectOption('message.created');
	await page.getByText('No delivery matches the filters').waitFor();
	await page.reload();
	await page.getByText('No delivery matches the filters').waitFor();
	await page.getByRole('button', { name: 'Replay', exact: true }).click();
	await page.getByRole('button', { name: 'Replay events' }).click();
	await page.getByRole('dialog').getByText('is sent again').waitFor();
	await page.getByRole('dialog').getByRole('button', { name: 'Replay events' }).click();
	await page.getByText(/events? (is|are) sent again/).waitFor();
	await receiver.waitFor(count + 1);
});

test('a webhook is disabled, enabled and deleted after questions', { skip }, async () => {
	await using receiver = await startReceiver(app);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/webhooks/${receiver.id}?tab=settings`);
	const { page } = owner;
	const dialog = page.getByRole('dialog');
	await page.getByRole('button', { name: 'Disable' }).click();
	await dialog.getByRole('button', { name: 'Disable' }).click();
	await page.getByText('Disabled through the API.').waitFor();
	await page.getByRole('button', { name: 'Enable' }).click();
	await page.getByText('The webhook is active again.').waitFor();
	await page.getByRole('button', { name: 'Delete' }).click();
	await dialog.getByText(receiver.url).waitFor();
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await page.getByText('The webhook was deleted.').waitFor();
	assert.equal((await app.call('GET', receiver.path)).status, 404);
});

test('a conflict shows both versions, and a list that cannot be loaded is loaded again', { skip }, async () => {
	await using receiver = await startReceiver(app, ['assistant.updated']);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/webhooks/${receiver.id}?tab=settings`);
	const { page } = owner;
	await page.getByLabel('Description').fill('Mine');
	await app.call('PATCH', receiver.path, { description: 'Theirs' });
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	const conflict = page.getByRole('alert');
	await conflict.getByText('Theirs').waitFor();
	await conflict.getByRole('button', { name: 'Save mine' }).click();
	await page.getByText('Saved.').waitFor();
	assert.equal((await app.call('GET', receiver.path)).body.description, 'Mine');
	await page.route('**/api/v1/webhooks?*', (route) =>
		route.fulfill({ status: 403, json: { error: { message: 'No.' } } }),
	);
	await page.goto(`${app.url}/dashboard#/webhooks`);
	await page.reload();
	await page.getByText('This could not be loaded').waitFor();
	await page.unroute('**/api/v1/webhooks?*');
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.getByRole('link', { name: receiver.url }).waitFor();
});

test('axe finds nothing wrong in light and dark, in English and German, and a phone needs no sideways scrolling', {
	skip,
}, async () => {
	await using receiver = await startReceiver(app, ['assistant.updated']);
	receiver.respond = () => ({ status: 500, body: 'no' });
	await changeAssistant();
	await receiver.waitFor(1);
	const { data } = (await app.call('GET', `${receiver.path}/deliveries`)).body;
	await using browser = await startBrowser();
	for (const [colorScheme, locale, width] of [
		['light', 'en-GB', 1440],
		['dark', 'de-DE', 320],
	] as const) {
		const options = { colorScheme, locale, bypassCSP: true, viewport: { width, height: 640 } };
		await using owner = await openDashboard(app, browser, options);
		const own = `#/webhooks/${receiver.id}`;
		for (const hash of ['#/webhooks', '#/webhooks/new', own, `${own}?tab=settings`, `${own}/${data[0].id}`]) {
			await owner.page.goto(`${app.url}/dashboard${hash}`);
			await owner.page.locator('h1').waitFor();
			await owner.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
			assert.deepEqual(await axeFindings(owner.page), [], `${hash} ${colorScheme}`);
			assert.equal(await overflowOf(owner.page), 0, `${hash} is wider than ${width} pixels`);
		}
	}
});
