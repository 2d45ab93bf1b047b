import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { noBrowser, PARLEY, startBrowser } from '../support/browser.ts';
import type { OpenApiDocument } from '../support/openapi.ts';

test('the API documentation works from the server alone: every group is shown, and an operation can be tried with a key', {
	skip: noBrowser,
}, async () => {
	await using app = await startTestApp();
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Shown in the documentation' });
	const document = (await (await fetch(`${app.url}/api/openapi.json`)).json()) as OpenApiDocument;
	await using browser = await startBrowser();
	await using visitor = await browser.visitor();
	const { page, foreign, problems } = visitor;
	// A name that is not this machine's own: some scripts behave better on localhost.
	const site = `http://${PARLEY}:${new URL(app.url).port}`;
	page.on('request', (request) => {
		const { protocol, origin } = new URL(request.url());
		if (protocol !== 'data:' && origin !== site) foreign.push(request.url());
	});
	page.on('requestfailed', (request) => problems.push(`${request.url()} ${request.failure()?.errorText}`));
	page.on('console', (message) => {
		if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
	});

	const answer = await page.goto(`${site}/api/docs`);
	assert.match(answer?.headers()['content-security-policy'] ?? '', /default-src 'none'.*script-src 'self'/);
	const last = document.tags.at(-1)?.name as string;
	await page.locator(`h3[data-tag="${last}"]`).waitFor();
	const shown = await page
		.locator('h3[data-tag]')
		.evaluateAll((tags) => tags.map((tag) => tag.getAttribute('data-tag')));
	assert.deepEqual(
		shown,
		document.tags.map(({ name }) => name),
	);
	const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
	const events = Object.keys(document.webhooks).length;
	assert.equal(await page.locator('.opblock').count(), operations.length + events);

	await page.getByRole('button', { name: 'Authorize' }).first().click();
	const key = page.locator('.modal-ux form', { hasText: 'An API key' });
	await key.locator('input').fill(app.key);
	await key.locator('button[type=submit]').click();
	await page.locator('.modal-ux .close-modal').click();

	const operation = page.locator('#operations-Assistants-listAssistants');
	await operation.locator('.opblock-summary-control').click();
	await operation.getByRole('button', { name: 'Try it out' }).click();
	await operation.getByRole('button', { name: 'Execute' }).click();
	const live = operation.locator('.live-responses-table tr.response').first();
	await live.waitFor();
	const status = await live.locator('.response-col_status').textContent();
	assert.equal(status?.trim().slice(0, 3), '200');
	const text = await live.locator('.response-col_description').textContent();
	assert.ok(text?.includes(assistant.id), text ?? '');
	assert.deepEqual({ foreign, problems }, { foreign: [], problems: [] });
});
