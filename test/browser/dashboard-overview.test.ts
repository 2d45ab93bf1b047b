import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiFixture, untilSettled } from '../api/fixture.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());
const shop = await createApiFixture(app, { texts: ['The Lumen kettle is made of steel and costs forty euros.'] });

const ask = async (content: string) => {
	const { status, body } = await app.call('POST', '/api/v1/messages', { deployment_id: shop.deployment, content });
	assert.equal(status, 201, JSON.stringify(body));
	return body;
};

test('a question without an answer gets one: the person writes it, and the assistant answers from the new document', {
	skip,
}, async () => {
	await ask('What is the Lumen kettle made of?');
	await ask('Do you deliver to Norway?');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/overview');
	const { page } = owner;
	await page.getByRole('heading', { name: 'Do you deliver to Norway?' }).waitFor();
	// Live: another question of the kind arrives while the page is open.
	await ask('do you deliver to norway');
	await page.getByText('asked 2 times').waitFor();
	await page.getByRole('button', { name: 'Write an answer' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Question').fill('Do you deliver to Norway?');
	await dialog.getByLabel('Answer', { exact: true }).fill('We deliver to Norway within five working days.');
	await dialog.getByLabel('Knowledge base').selectOption({ label: 'Shop' });
	await dialog.getByRole('button', { name: 'Add the document' }).click();
	await page.getByText('The document was added.').waitFor();
	await page.getByRole('heading', { name: 'No open question' }).waitFor();
	await untilSettled(app, shop.knowledgeBase);
	const answered = await ask('Do you deliver to Norway?');
	assert.equal(answered.answered_by, 'documents', answered.content);
	assert.match(answered.content, /five working days/);
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('more groups of questions are loaded with a button', { skip }, async () => {
	const many = await createApiFixture(app, { texts: ['The Lumen kettle is made of steel.'] });
	const words = ['swim', 'sing', 'jump', 'hide', 'dive', 'crawl', 'yawn'];
	const animals = ['zebras', 'otters', 'geese', 'falcons'];
	const questions = animals.flatMap((animal) => words.map((word) => `May ${animal} ${word}?`)).slice(0, 25);
	for (const content of questions) {
		await app.call('POST', '/api/v1/messages', { deployment_id: many.deployment, content });
	}
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/overview?assistant_id=${many.assistant}`);
	const { page } = owner;
	const groups = page.locator('.question-groups > li');
	await groups.nth(19).waitFor();
	const { data } = (await app.call('GET', `/api/v1/stats/unanswered?limit=100&assistant_id=${many.assistant}`)).body;
	assert.ok(data.length > 20, `${data.length} groups`);
	await page.getByRole('button', { name: 'Show more' }).click();
	await groups.nth(data.length - 1).waitFor();
	await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
	assert.deepEqual(owner.problems, []);
});

test('figures and charts are drawn under the policy, each chart has a table, and the range is in the address', {
	skip,
}, async () => {
	await ask('What is the Lumen kettle made of?');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/overview');
	const { page } = owner;
	await page.locator('.chart-frame canvas').nth(2).waitFor();
	await page.locator('.figure').first().waitFor();
	assert.equal(await page.getByText('none before').count(), 0, 'a new workspace has nothing to compare with');
	assert.deepEqual(owner.problems, [], 'the policy allows what the charts do');
	await page.getByText('Show as a table').first().click();
	await page.getByRole('columnheader', { name: 'Visitors' }).waitFor();
	await page.getByRole('button', { name: '24 hours' }).click();
	await page.waitForFunction("location.hash.includes('range=24h')");
	await page.reload();
	await page.locator('button[aria-pressed=true]', { hasText: '24 hours' }).waitFor();
	await page.getByRole('table', { name: 'Models' }).getByText('builtin/extractive').waitFor();
});

/** Collects the texts that a page draws on a canvas. */
const COLLECT_DRAWN = `
	globalThis.drawn = [];
	const { fillText } = CanvasRenderingContext2D.prototype;
	CanvasRenderingContext2D.prototype.fillText = function (...args) {
		drawn.push(args[0]);
		return fillText.apply(this, args);
	};`;

test('axes, values under the pointer and tables are in the language of the person', { skip }, async () => {
	await ask('What does the Lumen kettle cost?');
	await using browser = await startBrowser();
	const figures = { median: 1_500, p95: 2_500, count: 3 };
	for (const [locale, date, label, seconds] of [
		['de-DE', '03.10.2026', '3. Okt.', '1,5 s'],
		['en-GB', '3 Oct 2026', '3 Oct', '1.5 s'],
	] as const) {
		await using owner = await openDashboard(app, browser, { locale });
		const { page } = owner;
		await page.addInitScript(COLLECT_DRAWN);
		await page.route('**/api/v1/stats?*', async (route) => {
			const response = await route.fetch();
			const report = await response.json();
			const [bucket] = report.buckets;
			const buckets = Array.from({ length: 5 }, (_, at) => ({
				...bucket,
				start: `2026-10-0${at + 1}T00:00:00Z`,
				first_token_ms: figures,
				duration_ms: figures,
			}));
			await route.fulfill({ response, json: { ...report, interval: 'day', buckets } });
		});
		await page.goto(`${app.url}/dashboard#/overview`);
		await page.reload();
		const chart = page.locator('figure.chart').nth(2);
		await chart.locator('canvas').waitFor();
		await until('the axes are drawn', async () => {
			const drawn = await page.evaluate<string[]>('drawn');
			return drawn.includes(label) && drawn.includes(seconds);
		});
		await chart.locator('.u-over').hover();
		await chart.locator('.chart-reading').getByText(date).waitFor();
		await chart.locator('.chart-reading').getByText(seconds).waitFor();
		await chart.locator('summary').click();
		await chart.getByRole('rowheader', { name: date }).waitFor();
		assert.equal(await chart.getByRole('cell', { name: seconds }).count(), 10);
		assert.deepEqual(owner.problems, []);
	}
});

test('figures that cannot be loaded are loaded again with a button', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser);
	const { page } = owner;
	await page.route('**/api/v1/stats?*', (route) =>
		route.fulfill({ status: 400, json: { error: { message: 'Not now.' } } }),
	);
	await page.route('**/api/v1/stats', (route) =>
		route.fulfill({ status: 400, json: { error: { message: 'Not now.' } } }),
	);
	await page.goto(`${app.url}/dashboard#/overview`);
	await page.getByText('Not now.').waitFor();
	await page.unrouteAll();
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.locator('.chart-frame canvas').first().waitFor();
});

test('axe finds nothing wrong in light and dark, in English and German, and a phone needs no sideways scrolling', {
	skip,
}, async () => {
	await ask('Is the toaster of the Donaudampfschifffahrtsgesellschaft waterproof?');
	await using browser = await startBrowser();
	for (const [colorScheme, locale, width] of [
		['light', 'en-GB', 1440],
		['dark', 'de-DE', 320],
	] as const) {
		const options = { colorScheme, locale, bypassCSP: true, viewport: { width, height: 640 } };
		await using owner = await openDashboard(app, browser, options, '#/overview');
		const { page } = owner;
		await page.locator('.question-groups').waitFor();
		await page.locator('.chart-frame canvas').nth(2).waitFor();
		assert.deepEqual(await axeFindings(page), [], colorScheme);
		assert.equal(await overflowOf(page), 0, `wider than ${width} pixels`);
		await page
			.getByRole('button', { name: /Write an answer|Antwort schreiben/ })
			.first()
			.click();
		await page.getByRole('dialog').getByRole('textbox').first().waitFor();
		assert.deepEqual(await axeFindings(page), [], `the dialog, ${colorScheme}`);
		await page.keyboard.press('Escape');
	}
});
