import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';

test('axe finds nothing wrong with the start page, the demo page and the password page, in light and dark', {
	skip,
}, async () => {
	await using app = await startTestApp();
	await using browser = await startBrowser();
	for (const colorScheme of ['light', 'dark'] as const) {
		await using visitor = await browser.visitor({
			colorScheme,
			bypassCSP: true,
			viewport: { width: 360, height: 640 },
		});
		for (const path of ['/', '/demo', '/set-password#a-token']) {
			await visitor.page.goto(app.url + path);
			assert.deepEqual(await axeFindings(visitor.page), [], `${path} ${colorScheme}`);
			const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
			assert.equal(await visitor.page.evaluate(overflow), 0, `${path} is wider than the screen`);
		}
		assert.deepEqual([visitor.problems, visitor.foreignRequests], [[], []]);
	}
});
