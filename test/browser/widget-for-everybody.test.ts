import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { deferred } from '../../src/base/index.ts';
import { noBrowser, STRANGER } from '../support/browser.ts';
import { openShop, type Shop, teach } from './shop.ts';

const skip = noBrowser;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** For a person to look at; not kept. */
const PICTURES = fileURLToPath(new URL('../../.build/screenshots/', import.meta.url));
const LONG_WORD = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(2);
const RICH = `## Descaling

Do this **every four weeks**, or when the lamp blinks — see [the manual](https://shop.example/manual):

1. Pour in *half a litre* of water
   - and \`100 ml\` of vinegar
   - no lemon juice
2. Boil, wait, pour away

> Never while it is hot.

| Model | Litres | Watts |
|---|---|---|
| Brook | 1.7 | 2200 |
| Creek | 1.0 | 1500 |

\`\`\`sh
kettle --descale --minutes 20 --very-long-option-name-that-does-not-fit
\`\`\`

${LONG_WORD}`;

let shop: Shop;
let answered: string;
let rich: string;

before(async () => {
	if (skip) return;
	await mkdir(PICTURES, { recursive: true });
	shop = await openShop();
	const suggested_questions = ['How many days do I have to return an order?', 'How long is the warranty?'];
	answered = await shop.deploy({ appearance: { suggested_questions } }, { model: 'builtin/extractive' });
	await teach(shop.app.call, answered);
	rich = await shop.deploy();
});
after(() => shop?.[Symbol.asyncDispose]());

/** Waits until what moves once has moved. */
async function settled(page: Page): Promise<void> {
	await page.evaluate(
		"Promise.all(document.querySelector('parley-widget').shadowRoot.querySelector('.frame').getAnimations({ subtree: true }).filter((one) => one.effect.getTiming().iterations === 1).map((one) => one.finished)).then(() => undefined)",
	);
}

/** Texts of the chat with a contrast below 4.5 to what is painted under them: axe gives up on what may lie under others. */
const FAINT = `(() => {
	const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
	const over = ([r, g, b, a = 1], under) => [r, g, b].map((value, index) => value * a + under[index] * (1 - a));
	const under = (element) => {
		const above = element.parentElement ? under(element.parentElement) : [255, 255, 255];
		return over(numbers(getComputedStyle(element).backgroundColor), above);
	};
	const light = (rgb) => rgb.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
	const luminance = (rgb) => light(rgb).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
	const faint = [];
	let seen = 0;
	for (const element of document.querySelector('parley-widget').shadowRoot.querySelectorAll('.panel *')) {
		if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
		if (element.closest('.unseen, :disabled') || !element.getClientRects().length) continue;
		seen++;
		const ground = under(element);
		const [one, two] = [luminance(over(numbers(getComputedStyle(element).color), ground)), luminance(ground)];
		const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
		if (contrast < 4.5) faint.push(element.localName + '.' + element.className + ' ' + contrast.toFixed(2) + ' ' + element.textContent.slice(0, 40));
	}
	return { seen, faint };
})()`;

/** What axe finds wrong with the page as it is, and what is too faint to be read, with a picture of it. */
async function lookAt(page: Page, name: string): Promise<void> {
	await settled(page);
	await page.screenshot({ path: join(PICTURES, `${name}.png`) });
	if (await page.evaluate("typeof axe === 'undefined'")) await page.addScriptTag({ path: AXE });
	const found = (await page.evaluate(
		`axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`,
	)) as string[];
	assert.deepEqual(found, [], name);
	const { seen, faint } = (await page.evaluate(FAINT)) as { seen: number; faint: string[] };
	assert.deepEqual(faint, [], name);
	assert.ok(seen > 0 || name.endsWith('-closed'), 'there is text to be looked at');
}

for (const theme of ['light', 'dark'] as const) {
	test(`axe finds nothing wrong with any state of the ${theme} chat`, { skip }, async () => {
		const attributes = `data-theme="${theme}"`;
		{
			await using visitor = await shop.visit(answered, { attributes });
			const { chat, page } = visitor;
			await chat.button.waitFor();
			await lookAt(page, `${theme}-closed`);
			await chat.open();
			await chat.control('How long is the warranty?').waitFor();
			await lookAt(page, `${theme}-empty`);
			await chat.ask('How many days do I have to return an order?');
			await chat.says('45 days');
			await chat.control('Source 1').first().click();
			await chat.control('Helpful').click();
			await chat.panel.locator('[aria-pressed=true]').waitFor();
			await lookAt(page, `${theme}-answer-with-source`);
		}
		{
			const rest = deferred<void>();
			const begin = deferred<void>();
			shop.model.next([{ wait: begin.promise }, { say: RICH }], [{ say: 'It begins' }, { wait: rest.promise }]);
			await using visitor = await shop.visit(rich, { attributes });
			const { chat, page } = visitor;
			await chat.open();
			await chat.ask(`How do I descale it? ${LONG_WORD}`);
			await chat.reply.locator('.dots').waitFor();
			await lookAt(page, `${theme}-waiting`);
			begin.resolve();
			await chat.says(LONG_WORD);
			await chat.control('Send').waitFor();
			await lookAt(page, `${theme}-rich-end`);
			await chat.of('.log', 'element.scrollTop = 60');
			await lookAt(page, `${theme}-rich`);
			assert.equal(await chat.of('.log', 'element.scrollWidth <= element.clientWidth'), true);
			await chat.ask('Go on.');
			await chat.says('It begins');
			await lookAt(page, `${theme}-streaming`);
			await chat.control('Stop the answer').click();
			await chat.reply.getByText('Stopped').waitFor();
			rest.resolve();
			shop.model.next([{ status: 400, body: '{}' }]);
			await chat.ask('Again?');
			await chat.reply.getByText('could not be written').waitFor();
			await lookAt(page, `${theme}-stopped-and-failed`);
			const { call } = shop.app;
			const { body } = await call('GET', `/api/v1/conversations?deployment_id=${rich}`);
			await call('POST', `/api/v1/conversations/${body.data[0].id}/takeover`);
			await call('POST', `/api/v1/conversations/${body.data[0].id}/messages`, {
				content: 'Let me help.',
				name: 'Maria',
			});
			await chat.says('Let me help.');
			await lookAt(page, `${theme}-person`);
			await visitor.context.setOffline(true);
			await chat.notice.getByText('You are offline.').waitFor();
			await lookAt(page, `${theme}-offline`);
		}
		{
			await using visitor = await shop.visit(rich, { attributes, host: STRANGER });
			await visitor.chat.button.click();
			await visitor.chat.notice.waitFor();
			await lookAt(visitor.page, `${theme}-forbidden`);
		}
		{
			const limited = await shop.deploy({ rate_limit: { messages_per_minute: 1 } });
			await using visitor = await shop.visit(limited, { attributes });
			const { chat, page } = visitor;
			await chat.open();
			await chat.ask('One?');
			await chat.says('Hello.');
			await chat.control('Send').waitFor();
			await chat.ask('Two?');
			await chat.notice.waitFor();
			await lookAt(page, `${theme}-limited`);
		}
	});
}

test('any brand colour can be read, as a background and as a colour of text', { skip }, async () => {
	for (const [colour, theme] of [
		['#ffffff', 'light'],
		['#ffff00', 'light'],
		['#777777', 'dark'],
		['#000000', 'dark'],
	] as const) {
		await using visitor = await shop.visit(answered, { attributes: `data-theme="${theme}" data-color="${colour}"` });
		const { chat, page } = visitor;
		await chat.open();
		await chat.control('How long is the warranty?').click();
		await chat.says('three years');
		await chat.control('Source 1').first().click();
		await lookAt(page, `colour-${colour.slice(1)}-${theme}`);
	}
});

test('everything can be done by the keyboard alone', { skip }, async () => {
	await using visitor = await shop.visit(answered);
	const { chat, page } = visitor;
	await chat.button.waitFor();
	const { keyboard } = page;
	const focused = () =>
		page.evaluate(
			'(() => { const { activeElement } = document.querySelector("parley-widget").shadowRoot; return activeElement && (activeElement.ariaLabel ?? activeElement.textContent) })()',
		);
	await page.getByLabel('Search').focus();
	await keyboard.press('Tab');
	assert.equal(await focused(), 'Open chat');
	await keyboard.press('Enter');
	await chat.field.waitFor();
	await page.waitForFunction(
		'document.querySelector("parley-widget").shadowRoot.activeElement?.localName === "textarea"',
	);
	await keyboard.press('Shift+Tab');
	assert.equal(await focused(), 'How long is the warranty?');
	await keyboard.press('Enter');
	await chat.says('three years');
	assert.equal(await focused(), 'Your message');
	await chat.control('Send').waitFor();
	// Back from the field: what can be done with the reply, its source, the conversation, the header.
	const way: unknown[] = [];
	for (let step = 0; step < 8; step++) {
		await keyboard.press('Shift+Tab');
		way.push(await focused());
	}
	assert.deepEqual(way.slice(0, 2), ['Not helpful', 'Helpful']);
	assert.ok(way.includes('Source 1') && way.includes('Conversation') && way.includes('New conversation'), String(way));
	await chat.control('Source 1').first().focus();
	await keyboard.press('Enter');
	await chat.panel.getByRole('group', { name: 'Source 1' }).waitFor();
	await keyboard.press('Escape');
	await chat.panel.waitFor({ state: 'hidden' });
	assert.equal(await focused(), 'Open chat');
	// On a large screen the page beside the chat stays within reach.
	await keyboard.press('Enter');
	await chat.field.waitFor();
	await page.getByLabel('Search').focus();
	assert.equal(await page.evaluate('document.activeElement.localName'), 'input');
});

test('a screen reader hears that an answer is being written, then the whole of it, once', { skip }, async () => {
	const rest = deferred<void>();
	shop.model.next([{ say: 'It takes **three' }, { wait: rest.promise }, { say: ' minutes**.' }]);
	await using visitor = await shop.visit(await shop.deploy());
	const { chat } = visitor;
	await chat.open();
	await chat.of(
		'[aria-live=polite]',
		'window.heard = [], new MutationObserver(() => heard.push(element.textContent)).observe(element, { childList: true, characterData: true, subtree: true })',
	);
	await chat.ask('How long?');
	await chat.says('It takes');
	rest.resolve();
	await chat.live.getByText('Assistant: It takes three minutes.').waitFor();
	assert.deepEqual(await visitor.page.evaluate('window.heard.map((text) => text.trim())'), [
		'Writing an answer …',
		'Assistant: It takes three minutes.',
	]);
});

test('on a phone the chat covers the page, keeps the focus in, and gives the page back', { skip }, async () => {
	await using visitor = await shop.visit(answered, {
		context: { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true },
	});
	const { chat, page } = visitor;
	await chat.button.tap();
	await chat.field.waitFor();
	await settled(page);
	assert.deepEqual(await chat.panel.boundingBox(), { x: 0, y: 0, width: 360, height: 640 });
	assert.equal(await chat.panel.getAttribute('aria-modal'), 'true');
	assert.equal(await page.evaluate('document.body.inert'), true);
	assert.equal(await chat.button.isVisible(), false);
	await lookAt(page, 'phone-empty');
	await chat.control('How long is the warranty?').tap();
	await chat.says('three years');
	await chat.control('Send').waitFor();
	await chat.control('Source 1').first().tap();
	await lookAt(page, 'phone-answer');
	await chat.field.focus();
	const places = new Set<unknown>();
	for (let step = 0; step < 14; step++) {
		await page.keyboard.press('Tab');
		places.add(
			await page.evaluate(
				'(() => { const { activeElement } = document.querySelector("parley-widget").shadowRoot; return activeElement && (activeElement.ariaLabel ?? activeElement.className) })()',
			),
		);
	}
	assert.ok(!places.has(null) && places.size > 5, [...places].join());
	await chat.control('Close chat').tap();
	await chat.panel.waitFor({ state: 'hidden' });
	assert.equal(await page.evaluate('document.body.inert'), false);
	await chat.button.waitFor();
});

test('from right to left in Arabic, and in each of the other languages, without a word of English', {
	skip,
}, async () => {
	const words = new Map<string, string>();
	for (const [locale, title] of [
		['ar-EG', 'الدردشة'],
		['de-CH', 'Chat'],
		['fr-FR', 'Chat'],
		['es-MX', 'Chat'],
		['nl-NL', 'Chat'],
		['pt-BR', 'Chat'],
		['ja-JP', 'チャット'],
	] as const) {
		await using visitor = await shop.visit(answered, { context: { locale } });
		const { chat, page } = visitor;
		await chat.open();
		assert.equal(await chat.panel.getAttribute('aria-label'), title);
		words.set(locale, (await chat.field.getAttribute('placeholder')) ?? '');
		assert.equal(await chat.host.locator('.frame').getAttribute('dir'), locale === 'ar-EG' ? 'rtl' : 'ltr');
		// What axe looks at is the same in each; one that reads the other way will do.
		if (locale === 'ar-EG') {
			await chat.ask('How long is the warranty?');
			await chat.says('three years');
			await chat.panel.locator('.reference').first().click();
			await lookAt(page, 'language-ar');
		} else await page.screenshot({ path: join(PICTURES, `language-${locale.slice(0, 2)}.png`) });
	}
	assert.equal(new Set(words.values()).size, 7);
	// The page's word is the last.
	await using visitor = await shop.visit(answered, { context: { locale: 'de-DE' }, attributes: 'data-language="nl"' });
	await visitor.chat.button.and(visitor.page.getByLabel('Chat openen')).waitFor();
});

test('it is dark where the visitor’s system is, with as little motion as they want, and in their own colours', {
	skip,
}, async () => {
	await using visitor = await shop.visit(rich, {
		attributes: 'data-theme="auto"',
		context: { colorScheme: 'dark', reducedMotion: 'reduce' },
	});
	const { chat, page } = visitor;
	await chat.open();
	assert.equal(await chat.host.locator('.frame').getAttribute('data-theme'), 'dark');
	assert.equal(await chat.of('.panel', 'getComputedStyle(element).animationName'), 'none');
	await page.emulateMedia({ colorScheme: 'light' });
	await chat.host.locator('.frame[data-theme=light]').waitFor({ state: 'attached' });
	await page.emulateMedia({ forcedColors: 'active' });
	await page.screenshot({ path: join(PICTURES, 'forced-colours.png') });
	const border = await chat.of('.round', 'getComputedStyle(element).borderTopStyle');
	assert.equal(border, 'solid');
});
