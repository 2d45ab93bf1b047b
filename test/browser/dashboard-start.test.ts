import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FirstStartSecrets } from '../../src/access/index.ts';
import { PASSWORD } from '../access/people.ts';
import { startTestApp } from '../support/app.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';

test('the printed link leads to a cited answer and the line for a website, by clicking', { skip }, async () => {
	let first: FirstStartSecrets | undefined;
	const overrides = {
		onFirstStart(made: FirstStartSecrets) {
			first = made;
		},
	};
	await using app = await startTestApp({ overrides });
	await using browser = await startBrowser();
	await using owner = await browser.visitor({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
	const { page } = owner;
	await page.goto(`${app.url}/set-password#${first?.passwordToken}`);
	await page.getByLabel('New password').fill(PASSWORD);
	await page.getByRole('button', { name: 'Set password' }).click();

	await page.getByRole('heading', { name: 'Set up your first assistant' }).waitFor();
	await page.getByRole('textbox', { name: 'Name' }).fill('Kettle help');
	await page.getByRole('button', { name: 'Create the assistant' }).click();
	await page.getByRole('button', { name: 'Use the five samples' }).click();
	// All five, so that each question has its document.
	await page.locator('.guide-documents .status-green').nth(4).waitFor();
	await page.getByRole('button', { name: 'Next' }).click();
	await page.getByRole('button', { name: 'How long is the warranty on the heating element?' }).click();
	await page.getByText('First word after').waitFor();
	await page
		.getByRole('button', { name: /^Source \d/ })
		.first()
		.click();
	await page.getByRole('button', { name: 'Open in the document' }).first().waitFor();
	await page.getByRole('button', { name: 'Next' }).click();

	await page.getByRole('textbox', { name: 'Website' }).fill('https://shop.example/kettles');
	await page.getByRole('button', { name: 'Allow this website' }).click();
	await page.getByText('data-deployment-id=').waitFor();
	const { data } = (await app.call('GET', '/api/v1/deployments')).body;
	assert.deepEqual(data[0].allowed_domains, ['shop.example']);
	await page.getByRole('button', { name: 'Correct the website' }).click();
	await page.getByRole('textbox', { name: 'Website' }).fill('www.shop.example');
	await page.getByRole('button', { name: 'Allow this website' }).click();
	await page.getByText('of www.shop.example:').waitFor();
	const corrected = await app.call('GET', `/api/v1/deployments/${data[0].id}`);
	assert.deepEqual(corrected.body.allowed_domains, ['www.shop.example']);
	await page.getByRole('button', { name: 'Finish' }).click();
	await page.getByRole('heading', { name: 'Kettle help' }).waitFor();
	await page.goto(`${app.url}/dashboard#/`);
	await page.getByRole('heading', { name: 'Inbox' }).waitFor();
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('the guide continues where the workspace is, each step can be skipped, and leaving it is remembered', {
	skip,
}, async () => {
	await using app = await startOwnedApp();
	await app.call('POST', '/api/v1/assistants', { name: 'Made before' });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser);
	const { page } = owner;
	await page.getByRole('heading', { name: 'Add documents' }).waitFor();
	for (const title of ['Try a question', 'Put it on your website']) {
		await page.getByRole('button', { name: 'Skip this step' }).click();
		await page.getByRole('heading', { name: title }).waitFor();
	}
	await page.getByRole('button', { name: 'Leave the guide' }).click();
	await page.getByRole('heading', { name: 'Made before' }).waitFor();
	await page.goto(`${app.url}/dashboard#/`);
	await page.reload();
	await page.getByRole('heading', { name: 'Inbox' }).waitFor();
});

test('axe finds nothing wrong in the guide, in English and German, and 320 pixels are enough', { skip }, async () => {
	await using app = await startOwnedApp();
	await using browser = await startBrowser();
	for (const [colorScheme, locale, width] of [
		['light', 'en-GB', 1440],
		['dark', 'de-DE', 320],
	] as const) {
		const options = { colorScheme, locale, bypassCSP: true, viewport: { width, height: 640 } };
		await using owner = await openDashboard(app, browser, options);
		for (const step of [1, 2, 3, 4]) {
			await owner.page.goto(`${app.url}/dashboard#/start?step=${step}`);
			await owner.page.locator('#guide-step-title').waitFor();
			assert.deepEqual(await axeFindings(owner.page), [], `${step} ${colorScheme}`);
			assert.equal(await overflowOf(owner.page), 0, `step ${step} is wider than ${width} pixels`);
			await app.call('POST', '/api/v1/assistants', { name: 'Donaudampfschifffahrtsgesellschaftskapitän' });
		}
	}
});
