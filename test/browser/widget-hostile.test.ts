import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { embed, noBrowser } from '../support/browser.ts';
import { HOSTILE } from './hostile-texts.ts';
import { addDocuments, chatOn, openShop, type Shop } from './shop.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

/** What there may be in the chat, and nothing else. */
const HARMLESS = new Set(
	'a b blockquote br button code del div em form h2 h3 h4 header hr i li ol p path pre span strong svg table td textarea th time tr ul'.split(
		' ',
	),
);

/** The elements of the chat that must not be there, the links that lead nowhere good, and attributes that run. */
async function harmIn(page: Page): Promise<string[]> {
	const found = (await page.evaluate(`(() => {
		const root = document.querySelector('parley-widget').shadowRoot;
		return [...root.querySelectorAll('.panel, .panel *')].flatMap((element) => [
			'<' + element.localName + '>',
			...element.getAttributeNames().filter((name) => /^on|^style$|^src/.test(name) && element.localName !== 'textarea').map((name) => name + '='),
			...(element.href && element.href.baseVal === undefined ? [element.protocol] : []),
			...(element.localName === 'a' && !/noopener/.test(element.rel) ? ['a link without noopener'] : []),
		]);
	})()`)) as string[];
	return [...new Set(found)].filter(
		(what) =>
			!(what.startsWith('<') && HARMLESS.has(what.slice(1, -1))) && !['https:', 'http:', 'mailto:'].includes(what),
	);
}

test('no text of a model runs code, loads a resource, or links to anything but the web', {
	skip,
}, async () => {
	assert.ok(HOSTILE.length >= 60);
	const deployment = await shop.deploy({ rate_limit: { messages_per_minute: 10_000 } });
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	// Each text is a paragraph of its own, and is also shown at every length on its way: half of them word by word.
	for (let from = 0; from < HOSTILE.length; from += 28) {
		const texts = HOSTILE.slice(from, from + 28);
		const say = (text: string) => text.match(/.{1,7}/gsu)?.map((piece) => ({ say: piece })) ?? [];
		shop.model.enqueue([
			...texts.flatMap((text, index) => [...(index % 2 ? say(text) : [{ say: text }]), { say: '\n\n' }]),
			{ say: `End ${from}.` },
		]);
		await chat.ask(`What about ${from}?`);
		await chat.says(`End ${from}.`);
		await chat.control('Send').waitFor();
	}
	for (const link of await chat.panel.locator('.message button').all()) await link.hover();
	assert.deepEqual(await harmIn(page), []);
	assert.equal(await page.evaluate('window.hacked'), undefined);
	assert.deepEqual(
		{ foreignRequests: visitor.foreignRequests, problems: visitor.problems },
		{ foreignRequests: [], problems: [] },
	);
	// It is all there to be read.
	assert.match((await chat.log.textContent()) ?? '', /<script>window\.hacked/);
});

test('passages of hostile documents are shown as text', { skip }, async () => {
	const deployment = await shop.deploy({}, { model: 'builtin/extractive' });
	const sayings = HOSTILE.filter((text) => !text.includes('\u0000')).map(
		(text, index) => `The kettle named zebra${index} says ${text} as everybody knows.`,
	);
	const documents = Array.from({ length: 8 }, (_, index): [string, string] => [
		`Kettles ${index} <img src=x onerror=hacked=1>`,
		sayings.filter((_saying, at) => at % 8 === index).join('\n\n'),
	]);
	await addDocuments(shop.app.call, deployment, documents);
	await shop.app.call('PATCH', `/api/v1/deployments/${deployment}`, { rate_limit: { messages_per_minute: 10_000 } });
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	for (const index of [0, 4, 13, 31, 42, 55, 68]) {
		await chat.ask(`What does the kettle named zebra${index} say?`);
		await chat.messages.nth(2).waitFor();
		await chat.control('Send').waitFor();
		for (const chip of await chat.reply.locator('.chip').all()) {
			await chip.click();
			assert.deepEqual(await harmIn(page), []);
		}
	}
	assert.equal(await page.evaluate('window.hacked'), undefined);
	assert.deepEqual(
		{ foreignRequests: visitor.foreignRequests, problems: visitor.problems },
		{ foreignRequests: [], problems: [] },
	);
});

test('two widgets with different deployments work on a page with a strict policy and hostile styles', {
	skip,
}, async () => {
	const right = await shop.deploy({ appearance: { greeting: 'I am the right one.' } });
	const left = await shop.deploy({ appearance: { greeting: 'I am the left one.', position: 'bottom-left' } });
	const url = shop.app.url;
	const policy = `default-src 'none'; script-src ${url}; connect-src ${url}; style-src http://*.parley.test:*; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'`;
	shop.site.serve(
		'/hostile.css',
		`* { all: unset !important; display: inline !important; color: yellow !important; font: 3px/1 serif !important; visibility: hidden !important; direction: rtl !important; letter-spacing: 9px !important; text-transform: uppercase !important; }
		html { font-size: 2px !important; } body { transform: rotate(9deg) !important; filter: blur(9px) !important; } body > *, html > * { display: none !important; position: static !important; } :not(:defined) { display: none !important; opacity: 0 !important; }
		:root { --brand: red; --text: red; --surface: red; }`,
		{ 'content-type': 'text/css' },
	);
	await using visitor = await shop.visit(right, {
		script: `<link rel="stylesheet" href="/hostile.css">${embed(url, right)}${embed(url, left)}`,
		headers: { 'content-security-policy': policy },
	});
	const { page } = visitor;
	// Not by a function: polling it is code made of text, which this page's policy forbids.
	await page.locator('parley-widget').nth(1).waitFor({ state: 'attached' });
	for (const [greeting, deployment] of [
		['I am the right one.', right],
		['I am the left one.', left],
	] as const) {
		const which = (await page.evaluate(
			`[...document.querySelectorAll('parley-widget')].findIndex((host) => (host.shadowRoot.querySelector('.frame').dataset.side === 'bottom-left') === ${deployment === left})`,
		)) as number;
		const chat = chatOn(page, which);
		await chat.open();
		await chat.says(greeting);
		await chat.ask('Which one are you?');
		await chat.says('Hello.');
		const box = await chat.panel.boundingBox();
		assert.deepEqual([box?.width, (box?.height ?? 0) > 400], [392, true]);
		const style = (await chat.of(
			'textarea',
			'(({ fontSize, direction, textTransform, visibility, letterSpacing }) => ({ fontSize, direction, textTransform, visibility, letterSpacing }))(getComputedStyle(element))',
		)) as object;
		assert.deepEqual(style, {
			fontSize: '16px',
			direction: 'ltr',
			textTransform: 'none',
			visibility: 'visible',
			letterSpacing: 'normal',
		});
		assert.equal(await page.evaluate(`Parley.get('${deployment}').deploymentId`), deployment);
		await chat.control('Close chat').click();
		await chat.panel.waitFor({ state: 'hidden' });
	}
	assert.deepEqual(
		{ foreignRequests: visitor.foreignRequests, problems: visitor.problems },
		{ foreignRequests: [], problems: [] },
	);
});

test('ignores an element with the id Parley, and resolves a relative address against the page', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	const { port } = new URL(shop.app.url);
	await using visitor = await shop.visit(deployment, {
		script: `<form id="Parley"><input name="widgets"></form>${embed(shop.app.url, deployment, `data-base-url="//127.0.0.1:${port}/"`)}`,
	});
	const { chat, page } = visitor;
	await page.waitForFunction('window.Parley.widgets?.length === 1');
	assert.equal(await page.evaluate('Parley.get().deploymentId'), deployment);
	await page.evaluate('Parley.send("Is that you?")');
	await chat.says('Hello.');
	assert.deepEqual(visitor.problems, []);
});

test('typing in the chat triggers no shortcut of the page, and the page gets no key events', {
	skip,
}, async () => {
	await using visitor = await shop.visit(await shop.deploy());
	const { chat, page } = visitor;
	await chat.open();
	await page.evaluate(
		`window.told = []; for (const type of ['keydown', 'keypress', 'keyup', 'beforeinput', 'input']) addEventListener(type, (event) => told.push(type + ' ' + (event.key ?? event.data)))`,
	);
	await chat.field.pressSequentially('secret');
	await chat.field.press('Enter');
	await chat.says('Hello.');
	assert.deepEqual(await page.evaluate('told'), []);
	await page.getByLabel('Search').press('k');
	assert.ok(((await page.evaluate('told')) as string[]).includes('keydown k'), 'it listens');
});
