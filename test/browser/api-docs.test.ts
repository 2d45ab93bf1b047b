import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { startTestApp } from '../support/app.ts';
import { axeFindings } from '../support/axe.ts';
import { PARLEY, noBrowser as skip, startBrowser } from '../support/browser.ts';
import type { OpenApiDocument } from '../support/openapi.ts';

/** Waits until the description is shown. */
async function openDocs(page: Page, address: string): Promise<void> {
	await page.goto(address);
	await page.locator('#loading').waitFor({ state: 'detached' });
}

/** Opens all parts of an operation that can be opened, with the examples inside them. */
async function openEverythingIn(operation: Locator): Promise<void> {
	const closed = operation.locator('details:not([open]) > summary');
	const unfilled = operation.locator('details[open]:not(:has(> .inside))');
	// The first in the order of the document is visible, because what contains it is open. Its content is made when it opens.
	while ((await closed.count()) > 0) {
		await closed.first().click();
		await unfilled.waitFor({ state: 'detached' });
	}
	assert.ok((await operation.locator('details details').count()) > 0, 'there are examples inside');
}

/** The same without clicks, which take long. */
async function openEverythingByScript(page: Page, id: string): Promise<void> {
	const closed = `document.querySelectorAll('#${id} details:not([open])')`;
	const isUnfilled = `document.querySelector('#${id} details[open]:not(:has(> .inside))') !== null`;
	while ((await page.evaluate(`${closed}.length`)) !== 0) {
		await page.evaluate(`for (const each of ${closed}) each.open = true`);
		await page.waitForFunction(`!(${isUnfilled})`);
	}
}

test('the API documentation loads from the server alone, lists and finds every operation, and sends requests by keyboard', {
	skip,
}, async () => {
	await using app = await startTestApp();
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Shown in the documentation' });
	const document = (await (await fetch(`${app.url}/api/openapi.json`)).json()) as OpenApiDocument;
	await using browser = await startBrowser();
	await using visitor = await browser.visitor();
	const { page, foreignRequests, problems } = visitor;
	// A name that is not this machine's own: some scripts behave better on localhost.
	const site = `http://${PARLEY}:${new URL(app.url).port}`;
	page.on('request', (request) => {
		const { protocol, origin } = new URL(request.url());
		if (protocol !== 'data:' && origin !== site) foreignRequests.push(request.url());
	});

	const answer = await page.goto(`${site}/api/docs`);
	const policy = answer?.headers()['content-security-policy'] ?? '';
	assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
	assert.doesNotMatch(policy, /unsafe/);
	await page.locator('#loading').waitFor({ state: 'detached' });
	const groups = await page.locator('main h2').allTextContents();
	assert.deepEqual(groups, [...document.tags.map(({ name }) => name), 'Events for webhooks', 'Error codes']);
	const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
	const events = Object.keys(document.webhooks).length;
	assert.equal(await page.locator('.operation').count(), operations.length + events);
	const text = await page.locator('main').textContent();
	assert.equal(text?.split('Send an API key as').length, 2, 'the introduction is there once');

	await page.keyboard.press('/');
	await page.keyboard.type('list assistants');
	await page.getByRole('status').getByText('1 of').waitFor();
	assert.equal(await page.locator('.operation:visible').count(), 1);
	await page.getByLabel('Search').fill('');

	await page.getByLabel('API key, forgotten').fill(app.key);
	await page.getByRole('navigation').getByRole('link', { name: 'List assistants' }).focus();
	await page.keyboard.press('Enter');
	const operation = page.locator('#listAssistants');
	await operation.getByLabel('limit').fill('7');
	assert.match(
		(await operation.locator('form pre').first().textContent()) ?? '',
		/^curl '.*\/api\/v1\/assistants\?limit=7'/,
	);
	await page.keyboard.press('Enter');
	await operation.getByRole('status').getByText(/^200/).waitFor();
	await operation.locator('form').getByText(assistant.id).first().waitFor();
	assert.equal(new URL(page.url()).hash, '#listAssistants');
	assert.doesNotMatch((await page.locator('main').textContent()) ?? '', new RegExp(app.key), 'the key is on no screen');
	assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0);

	await openDocs(page, `${site}/api/docs#createAssistant`);
	await page.reload();
	const create = page.locator('#createAssistant');
	await create.getByRole('button', { name: 'Send' }).click();
	await create.getByRole('status').getByText(/^401/).waitFor();
	assert.equal(await page.getByLabel('API key, forgotten').inputValue(), '', 'the key is forgotten with the page');
	assert.deepEqual({ foreignRequests, problems }, { foreignRequests: [], problems: [] });
});

test('every operation and event of the documentation opens and shows its parameters, bodies and responses', {
	skip,
}, async () => {
	await using app = await startTestApp();
	const document = (await (await fetch(`${app.url}/api/openapi.json`)).json()) as OpenApiDocument;
	await using browser = await startBrowser();
	await using visitor = await browser.visitor();
	await openDocs(visitor.page, `${app.url}/api/docs`);
	const { page } = visitor;
	await page.evaluate("for (const each of document.querySelectorAll('.operation')) each.open = true");
	await page.waitForFunction("[...document.querySelectorAll('.operation')].every((each) => each.children.length > 1)");
	const views = (await page.evaluate(
		"Object.fromEntries([...document.querySelectorAll('.operation')].map((each) => [each.id, each.textContent]))",
	)) as Record<string, string>;
	for (const [path, methods] of Object.entries(document.paths)) {
		for (const { operationId, responses } of Object.values(methods)) {
			const view = views[operationId] ?? '';
			assert.ok(view.includes(path), operationId);
			for (const status of Object.keys(responses)) assert.ok(view.includes(status), `${operationId} ${status}`);
		}
	}
	const shown = Object.values(views).join();
	assert.doesNotMatch(shown, /undefined|\[object/);
	assert.deepEqual(visitor.problems, []);
});

test('axe finds nothing wrong with the documentation, with all parts of an operation open and a response shown, in light and dark, on desktop and phone', {
	skip,
}, async () => {
	await using app = await startTestApp();
	await using browser = await startBrowser();
	for (const [colorScheme, width] of [
		['light', 1280],
		['dark', 1280],
		['light', 360],
		['dark', 360],
	] as const) {
		await using visitor = await browser.visitor({ colorScheme, bypassCSP: true, viewport: { width, height: 640 } });
		const { page } = visitor;
		await openDocs(page, `${app.url}/api/docs#createTool`);
		const operation = page.locator('#createTool');
		// Clicks do the same in both colour schemes.
		if (colorScheme === 'light') await openEverythingIn(operation);
		else await openEverythingByScript(page, 'createTool');
		await page.getByLabel('API key, forgotten').fill(app.key);
		await operation.getByRole('button', { name: 'Send' }).click();
		await operation
			.getByRole('status')
			.getByText(/^\d{3}/)
			.waitFor();
		await operation.locator('form pre').nth(2).getByText('{').waitFor();
		assert.deepEqual(await axeFindings(page), [], `${colorScheme} ${width}`);
		const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
		assert.equal(await page.evaluate(overflow), 0, `wider than ${width}`);
		assert.deepEqual([visitor.problems, visitor.foreignRequests], [[], []]);
	}
});
