import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { embed, noBrowser } from '../support/browser.ts';
import { chatOn, openShop, type Shop } from './shop.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

/** A page with two widgets by two script tags, and their chats by deployment. */
async function visitTwo(context?: object) {
	const [one, other] = [await shop.deploy(), await shop.deploy()];
	const script = embed(shop.app.url, one) + embed(shop.app.url, other);
	const visitor = await shop.stay(one, { script, ...(context ? { context } : {}) });
	const { page } = visitor;
	await page.waitForFunction('document.querySelectorAll("parley-widget").length === 2');
	return { visitor, page, first: chatOn(page, 0), second: chatOn(page, 1) };
}

/** How far each button's right edge is from the window's. */
const distances = (page: Page) =>
	page.evaluate(
		'[...document.querySelectorAll("parley-widget")].map((host) => innerWidth - host.shadowRoot.querySelector(".launcher").getBoundingClientRect().right)',
	);

test('places the buttons of two widgets side by side, and reuses a released position', {
	skip,
}, async () => {
	const { visitor, page } = await visitTwo();
	await using _ = visitor;
	assert.deepEqual(((await distances(page)) as number[]).sort(), [20, 92]);

	// A page that makes a widget for each of its views keeps its button where it is.
	const deployment = await shop.deploy();
	await using app = await shop.visit(deployment, { script: '<p>Views</p>' });
	const rounds = (await app.page.evaluate(`(async () => {
		const { createWidget } = await import('${shop.app.url}/widget.mjs');
		const seen = [];
		for (let round = 0; round < 3; round++) {
			const widget = createWidget({ deploymentId: '${deployment}' });
			await new Promise((resolve) => widget.on('ready', resolve));
			const { right } = document.querySelector('parley-widget').shadowRoot.querySelector('.launcher').getBoundingClientRect();
			seen.push(innerWidth - right);
			widget.destroy();
		}
		return seen;
	})()`)) as number[];
	assert.deepEqual(rounds, [20, 20, 20]);
});

test('opens only one of two widgets at a time, above the other’s button', { skip }, async () => {
	const { visitor, page, first, second } = await visitTwo();
	await using _ = visitor;
	await first.open();
	await second.button.click();
	await second.field.waitFor();
	await first.panel.waitFor({ state: 'hidden' });
	assert.equal(await second.of('textarea', 'element.getRootNode().activeElement === element'), true);
	assert.deepEqual(await page.evaluate('Parley.widgets.length'), 2);
});

test('on a phone the open chat covers the buttons of other widgets and makes them inert', { skip }, async () => {
	const { visitor, page, first, second } = await visitTwo({
		viewport: { width: 360, height: 640 },
		hasTouch: true,
		isMobile: true,
	});
	await using _ = visitor;
	const inert = () => page.evaluate('[...document.querySelectorAll("parley-widget, body")].map(({ inert }) => inert)');
	await first.button.tap();
	await first.field.waitFor();
	for (const [x, y] of [
		[360 - 48, 640 - 48],
		[360 - 120, 640 - 48],
	] as const) {
		assert.equal(
			await page.evaluate(
				`[...document.querySelectorAll('parley-widget')].indexOf(document.elementFromPoint(${x}, ${y}))`,
			),
			0,
		);
	}
	assert.deepEqual(await inert(), [true, false, true]);
	await first.control('Close chat').tap();
	await first.panel.waitFor({ state: 'hidden' });
	assert.deepEqual(await inert(), [false, false, false]);
	await second.button.tap();
	await second.field.waitFor();
});
