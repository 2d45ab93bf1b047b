import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { noBrowser, OTHER_SITE } from '../support/browser.ts';
import { lookAt, lookAtBoth, PICTURES, settled } from './chat-looks.ts';
import { addDocuments, conversationPath, openShop, type Shop } from './shop.ts';

const skip = noBrowser;
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
	await rm(PICTURES, { recursive: true, force: true });
	await mkdir(PICTURES, { recursive: true });
	shop = await openShop();
	const suggested_questions = ['How many days do I have to return an order?', 'How long is the warranty?'];
	answered = await shop.deploy({ appearance: { suggested_questions } }, { model: 'builtin/extractive' });
	await addDocuments(shop.app.call, answered);
	rich = await shop.deploy();
});
after(() => shop?.[Symbol.asyncDispose]());

test('axe finds nothing wrong with any state of the chat, in light and dark', { skip }, async () => {
	const attributes = 'data-theme="auto"';
	{
		await using visitor = await shop.visit(answered, { attributes });
		const { chat, page } = visitor;
		await chat.button.waitFor();
		await lookAtBoth(page, 'closed');
		await chat.open();
		await chat.control('How long is the warranty?').waitFor();
		await lookAtBoth(page, 'empty');
		await chat.ask('How many days do I have to return an order?');
		await chat.says('45 days');
		await chat.control('Source 1').first().click();
		await chat.control('Helpful').click();
		await chat.panel.locator('[aria-pressed=true]').waitFor();
		await lookAtBoth(page, 'answer-with-source');
	}
	{
		const rest = deferred<void>();
		const begin = deferred<void>();
		shop.model.enqueue([{ wait: begin.promise }, { say: RICH }], [{ say: 'It begins' }, { wait: rest.promise }]);
		await using visitor = await shop.stay(rich, { attributes });
		const { chat, page } = visitor;
		await chat.open();
		await chat.ask(`How do I descale it? ${LONG_WORD}`);
		await chat.reply.locator('.dots').waitFor();
		await lookAtBoth(page, 'waiting');
		begin.resolve();
		await chat.says(LONG_WORD);
		await chat.control('Send').waitFor();
		await lookAtBoth(page, 'rich-end');
		await chat.of('.log', 'element.scrollTop = 60');
		await lookAtBoth(page, 'rich');
		assert.equal(await chat.of('.log', 'element.scrollWidth <= element.clientWidth'), true);
		await chat.ask('Go on.');
		await chat.says('It begins');
		await lookAtBoth(page, 'streaming');
		await chat.control('Stop the answer').click();
		await chat.reply.getByText('Stopped').waitFor();
		rest.resolve();
		shop.model.enqueue([{ status: 400, body: '{}' }]);
		await chat.ask('Again?');
		await chat.reply.getByText('could not be written').waitFor();
		await lookAtBoth(page, 'stopped-and-failed');
		const { call } = shop.app;
		const conversation = await conversationPath(call, rich);
		await call('POST', `${conversation}/takeover`);
		await call('POST', `${conversation}/messages`, {
			content: 'Let me help.',
			name: 'Maria',
		});
		await chat.says('Let me help.');
		await lookAtBoth(page, 'person');
		await visitor.context.setOffline(true);
		await chat.notice.getByText('You are offline.').waitFor();
		await lookAtBoth(page, 'offline');
	}
	{
		await using visitor = await shop.visit(rich, { attributes, host: OTHER_SITE });
		await visitor.chat.button.click();
		await visitor.chat.notice.waitFor();
		await lookAtBoth(visitor.page, 'forbidden');
		// The notice is in the middle of the empty log.
		const middle =
			'(({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2])(element.getBoundingClientRect())';
		const [log, notice] = (await Promise.all(
			['.log', '.notice'].map((selector) => visitor.chat.of(selector, middle)),
		)) as number[][];
		for (const axis of [0, 1]) assert.ok(Math.abs((log?.[axis] ?? 0) - (notice?.[axis] ?? 99)) < 2);
	}
	{
		const limited = await shop.deploy({ rate_limit: { messages_per_minute: 1 } });
		await using visitor = await shop.visit(limited, { attributes });
		const { chat, page } = visitor;
		await chat.open();
		await chat.askAndWait('One?');
		await chat.ask('Two?');
		await chat.notice.waitFor();
		await lookAtBoth(page, 'limited');
	}
});

test('text is readable with any brand colour, as background and as text colour', { skip }, async () => {
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

test('the whole chat can be used by keyboard alone', { skip }, async () => {
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
	// Backwards from the field: the actions of the reply, its source, the conversation, the header.
	const way: unknown[] = [];
	for (let step = 0; step < 8; step++) {
		await keyboard.press('Shift+Tab');
		way.push(await focused());
	}
	assert.deepEqual(way.slice(0, 2), ['Not helpful', 'Helpful']);
	assert.ok(way.includes('Source 1') && way.includes('Conversation') && way.includes('More'), String(way));
	await chat.control('Source 1').first().focus();
	await keyboard.press('Enter');
	await chat.panel.getByRole('group', { name: 'Source 1' }).waitFor();
	await keyboard.press('Escape');
	await chat.panel.waitFor({ state: 'hidden' });
	assert.equal(await focused(), 'Open chat');
	// On a large screen the page beside the chat stays usable.
	await keyboard.press('Enter');
	await chat.field.waitFor();
	await page.getByLabel('Search').focus();
	assert.equal(await page.evaluate('document.activeElement.localName'), 'input');
});

test('announces to screen readers that a reply is in progress, then the complete reply once', { skip }, async () => {
	const rest = deferred<void>();
	shop.model.enqueue([{ say: 'It takes **three' }, { wait: rest.promise }, { say: ' minutes**.' }]);
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

test('on a phone the chat covers the page and traps the focus until it closes', { skip }, async () => {
	await using visitor = await shop.stay(answered, {
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
	// A body that the page replaces meanwhile becomes inert too, and is usable again afterwards.
	// The script tag stays on the page: removing it would destroy the widget.
	await page.evaluate('document.head.append(document.querySelector("script[data-deployment-id]"))');
	await page.evaluate('document.body.replaceWith(document.createElement("body"))');
	await page.waitForFunction('document.body.inert');
	await chat.control('Close chat').tap();
	await chat.panel.waitFor({ state: 'hidden' });
	assert.equal(await page.evaluate('document.body.inert'), false);
	await chat.button.waitFor();
});

test('shows a chat without messages from its beginning on a low screen, with suggestions as rows', {
	skip,
}, async () => {
	const long = 'How many days do I have to return an order that came too late, and who pays for that?';
	const deployment = await shop.deploy({
		appearance: { suggested_questions: [long, `${long} And why?`, `${long} And when?`, `${long} And how?`] },
	});
	await using visitor = await shop.stay(deployment, { context: { viewport: { width: 640, height: 360 } } });
	const { chat, page } = visitor;
	await chat.open();
	await chat.control(long).waitFor();
	await settled(page);
	await page.screenshot({ path: join(PICTURES, 'low-empty.png') });
	const log = '(({ scrollTop, scrollHeight, clientHeight }) => [scrollTop, scrollHeight > clientHeight])(element)';
	assert.deepEqual(await chat.of('.log', log), [0, true]);
	const share = '[...element.querySelectorAll("button")].map((one) => one.offsetWidth / element.offsetWidth)';
	assert.ok(
		((await chat.of('.suggestions', share)) as number[]).every((part) => part === 1),
		'rows as wide as the chat',
	);
	// A long press selects no text.
	assert.equal(await chat.of('.suggestions button', 'getComputedStyle(element).userSelect'), 'none');
});

test('marks an unsent message, and shows its action in the same size as its text', {
	skip,
}, async () => {
	const limited = await shop.deploy({ rate_limit: { messages_per_minute: 1 } });
	await using visitor = await shop.visit(limited);
	const { chat } = visitor;
	await chat.open();
	await chat.askAndWait('One?');
	await chat.ask('Two?');
	await chat.panel.getByText('Not sent').waitFor();
	const size = '[...element.children].map((one) => getComputedStyle(one).fontSize)';
	assert.deepEqual(await chat.of('.trouble', size), ['13px', '13px']);
	const look =
		'(({ borderTopStyle, backgroundColor }) => [borderTopStyle, backgroundColor])(getComputedStyle(element))';
	assert.deepEqual(await chat.of('.unsent .text', look), ['dashed', 'rgba(0, 0, 0, 0)']);
	assert.equal(((await chat.of('.mine:not(.unsent) .text', look)) as string[])[0], 'solid');
});

test('shows each language without English words, and Arabic from right to left', {
	skip,
}, async () => {
	const words = new Map<string, string>();
	await using visitor = await shop.stay(answered);
	const { chat, page, context } = visitor;
	const browser = await context.newCDPSession(page);
	const userAgent = (await page.evaluate('navigator.userAgent')) as string;
	for (const [locale, title] of [
		['de-CH', 'Chat'],
		['fr-FR', 'Chat'],
		['es-MX', 'Chat'],
		['nl-NL', 'Chat'],
		['pt-BR', 'Chat'],
		['ja-JP', 'チャット'],
		['ar-EG', 'الدردشة'],
	] as const) {
		await browser.send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage: locale });
		await page.evaluate('sessionStorage.clear()');
		await page.reload();
		await chat.open();
		assert.equal(await chat.panel.getAttribute('aria-label'), title);
		words.set(locale, (await chat.field.getAttribute('placeholder')) ?? '');
		assert.equal(await chat.host.locator('.frame').getAttribute('dir'), locale === 'ar-EG' ? 'rtl' : 'ltr');
		assert.equal(await chat.host.locator('.frame').getAttribute('lang'), locale.slice(0, 2));
		await settled(page);
		await page.screenshot({ path: join(PICTURES, `language-${locale.slice(0, 2)}.png`) });
	}
	// axe checks the same elements in each language. A language that is written from right to left is enough.
	await chat.ask('How long is the warranty?');
	await chat.says('three years');
	await chat.panel.locator('.reference').first().click();
	await lookAt(page, 'language-ar-answer');
	assert.equal(new Set(words.values()).size, 7);
	// The page's word is the last.
	await using other = await shop.visit(answered, { attributes: 'data-language="nl"' });
	await other.chat.button.and(other.page.getByLabel('Chat openen')).waitFor();
});

test('follows the visitor’s dark scheme, reduced motion and forced colours', {
	skip,
}, async () => {
	await using visitor = await shop.stay(rich, {
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
