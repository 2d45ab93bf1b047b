import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { embed, noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { addDocuments, chatOn, openShop, type Shop, untilAnswered } from './shop.ts';

const skip = noBrowser;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const FOOT = '<footer><p>A shop since 1906</p></footer>';
/** Pages of websites with landmarks of their own. */
const PAGES = {
	'header, navigation, main and footer': `<header><h1>Kettles</h1><nav aria-label="Shop"><a href="#a">All</a></nav></header>
		<main><p>They boil water.</p></main>${FOOT}`,
	'sections with names, an aside, a form and a search': `<header><h1>Kettles</h1><search aria-label="Shop"><input aria-label="Search"></search></header>
		<main><section aria-label="New"><h2>New</h2><p>Brook.</p></section><form aria-label="Letter"><label>Mail <input type="email"></label></form></main>
		<aside aria-label="Help"><p>Call us.</p></aside>${FOOT}`,
	'landmarks by their roles': `<div role="banner"><h1>Kettles</h1></div><div role="navigation" aria-label="Shop"><a href="#a">All</a></div>
		<div role="main"><p>They boil water.</p></div><div role="region" aria-label="Chat"><p>Call us.</p></div><div role="contentinfo"><p>A shop</p></div>`,
};

let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

/** What axe finds wrong with the page as it is. */
async function violations(page: Page): Promise<unknown> {
	if (await page.evaluate("typeof axe === 'undefined'")) await page.addScriptTag({ path: AXE });
	return page.evaluate(
		`axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)))`,
	);
}

const settled = (page: Page) =>
	page.evaluate(
		"Promise.all(document.querySelector('parley-widget').shadowRoot.querySelector('.frame').getAnimations({ subtree: true }).filter((one) => one.effect.getTiming().iterations === 1).map((one) => one.finished)).then(() => undefined)",
	);

test('axe finds nothing wrong on pages with their own landmarks, with the chat closed and open, in light and dark', {
	skip,
}, async () => {
	const deployment = await shop.deploy({}, { model: 'builtin/extractive' });
	await addDocuments(shop.app.call, deployment);
	for (const [name, body] of Object.entries(PAGES)) {
		for (const theme of ['light', 'dark']) {
			const path = `/host-${theme}-${Object.keys(PAGES).indexOf(name)}`;
			const tag = embed(shop.app.url, deployment, `data-theme="${theme}"`);
			shop.site.serve(path, `<!doctype html><html lang="en"><title>A shop</title><body>${body}${tag}</body></html>`);
			await using visitor = await shop.browser.sharedVisitor();
			const { page } = visitor;
			await page.goto(shop.site.url(path));
			const chat = chatOn(page);
			await chat.button.waitFor();
			assert.deepEqual(await violations(page), [], `${name}, ${theme}, closed`);
			await chat.open();
			await settled(page);
			assert.deepEqual(await violations(page), [], `${name}, ${theme}, open`);
			await chat.askAndWait('How long is the warranty?', 'three years');
			assert.deepEqual(await violations(page), [], `${name}, ${theme}, with an answer`);
		}
	}
});

/** Adds a script tag to the page, as single-page applications do. */
const addTag = (page: Page, deployment: string) =>
	page.evaluate(
		`(() => {
			const script = document.createElement('script');
			script.src = '${shop.app.url}/widget.js';
			script.dataset.deploymentId = '${deployment}';
			document.body.append(script);
			return new Promise((resolve) => { script.onload = resolve; });
		})().then(() => undefined)`,
	);
const removeTag = (page: Page, deployment: string) =>
	page.evaluate(`document.querySelector('script[data-deployment-id="${deployment}"]').remove()`);
const removeElement = (page: Page) => page.evaluate("document.querySelector('parley-widget').remove()");
const count = (page: Page) =>
	page.evaluate('[document.querySelectorAll("parley-widget").length, Parley.widgets.length]');

test('a page that removes the element and adds the tag again gets a working widget each time', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment, { script: '<p>Views</p>' });
	const { chat, page } = visitor;
	await addTag(page, deployment);
	await chat.open();
	for (let round = 1; round <= 3; round++) {
		await chat.ask(`Round ${round}?`);
		await untilAnswered(shop.app.call, deployment, 2 * round);
		await page.evaluate('Parley.on("close", () => { window.closings = (window.closings ?? 0) + 1; })');
		await removeElement(page);
		// A page that got the event `open` also gets `close`.
		await page.waitForFunction(`window.closings === ${round}`);
		await removeTag(page, deployment);
		await addTag(page, deployment);
		// It was open: so it is.
		await chat.messages.filter({ hasText: `Round ${round}?` }).waitFor();
		assert.deepEqual(await count(page), [1, 1]);
	}
	assert.deepEqual(visitor.problems, []);
});

test('a new tag replaces a widget whose element was removed', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.button.waitFor();
	await removeElement(page);
	await page.waitForFunction("!document.querySelector('parley-widget')");
	await addTag(page, deployment);
	await chat.open();
	await chat.ask('Are you back?');
	await chat.says('Hello.');
	assert.deepEqual(await count(page), [1, 1]);
	// The former tag is no owner of the new widget.
	await removeTag(page, deployment);
	await chat.field.waitFor();
	// The page moves the element about; that is not removing it.
	await page.evaluate("document.documentElement.append(document.querySelector('parley-widget'))");
	await chat.messages.filter({ hasText: 'Are you back?' }).waitFor();
});

test('removing the tag destroys the widget with its connections and listeners, and a new tag adds it again', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.stay(deployment, {
		script: '<p>Views</p>',
		before: ({ page }) =>
			page.addInitScript(`{
				window.listening = 0;
				for (const target of [window, document, MediaQueryList.prototype]) {
					const add = target.addEventListener;
					target.addEventListener = function (type, listener, options) {
						if (options?.signal && !options.once) {
							listening++;
							options.signal.addEventListener('abort', () => listening--);
						}
						return add.call(this, type, listener, options);
					};
				}
			}`),
	});
	const { chat, page } = visitor;
	const streams = new Set<string>();
	page.on('request', (request) => /\/events\?/.test(request.url()) && streams.add(request.url()));
	const ended: string[] = [];
	page.on('requestfailed', (request) => /\/events\?/.test(request.url()) && ended.push(request.url()));
	for (let round = 1; round <= 3; round++) {
		await addTag(page, deployment);
		if (round === 1) {
			await chat.open();
			await chat.ask('One?');
		}
		await chat.says('Hello.');
		await until('it follows the conversation', () => streams.size > 0);
		assert.ok(((await page.evaluate('listening')) as number) > 0);
		await removeTag(page, deployment);
		await chat.host.waitFor({ state: 'detached' });
		assert.deepEqual(await count(page), [0, 0]);
		assert.equal(await page.evaluate('listening'), 0);
		await until('its stream has ended', () => ended.length >= round);
	}
	assert.deepEqual(visitor.problems, []);
});

test('each of two widgets is destroyed with the last of its own tags', { skip }, async () => {
	const [one, other] = [await shop.deploy(), await shop.deploy()];
	await using visitor = await shop.visit(one, { script: '<p>Views</p>' });
	const { page } = visitor;
	const there = async () => (await page.evaluate('Parley.widgets.map((one) => one.deploymentId)')) as string[];
	for (let round = 0; round < 2; round++) {
		await addTag(page, one);
		await addTag(page, other);
		assert.deepEqual(await there(), [one, other]);
		await removeTag(page, one);
		await page.waitForFunction('Parley.widgets.length === 1');
		assert.deepEqual(await there(), [other]);
		await addTag(page, one);
		await addTag(page, one);
		await removeTag(page, one);
		await removeTag(page, other);
		await page.waitForFunction('Parley.widgets.length === 1');
		assert.deepEqual(await there(), [one]);
		await removeTag(page, one);
		await page.waitForFunction('Parley.widgets.length === 0');
	}
});

test('a tag that is removed after it ran leaves a widget, and a tag that is removed before leaves none', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment, { script: '<p>Views</p>' });
	const { chat, page } = visitor;
	const load = (afterwards: string) =>
		page.evaluate(`new Promise((resolve) => {
			const script = document.createElement('script');
			script.src = '${shop.app.url}/widget.js';
			script.dataset.deploymentId = '${deployment}';
			script.onload = () => { script.remove(); resolve(); };
			document.head.append(script);
			${afterwards}
		})`);
	await load('script.remove();');
	assert.equal(await page.evaluate('window.Parley === undefined'), true);
	await load('');
	await chat.open();
	await chat.ask('Are you there?');
	await chat.says('Hello.');
});

test('on a phone, removing an open widget makes the page usable again', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.stay(deployment, {
		context: { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true },
	});
	const { chat, page } = visitor;
	await chat.button.tap();
	await chat.field.waitFor();
	assert.equal(await page.evaluate('document.body.inert'), true);
	await removeElement(page);
	await page.waitForFunction('!document.body.inert');
});
