import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deferred } from '../../src/base/index.ts';
import { embed, noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { addDocuments, conversationPath, createOutage, openShop, type Shop, stored, untilAnswered } from './shop.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

test('stops a reply in progress without streaming', { skip }, async () => {
	const deployment = await shop.deploy({ features: { streaming: false } });
	shop.model.enqueue([{ say: 'One.' }], [{ say: 'It is a long' }, { hang: true }]);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('First?');
	await chat.says('One.');
	await chat.ask('Second?');
	await until('the model is at it', () => shop.model.calls.length === 2);
	await chat.control('Stop the answer').click();
	await until('it is stopped', async () => (await stored(shop.app.call, deployment))[3]?.status === 'stopped');
	await chat.control('Send').waitFor();
});

test('a stop that comes too late for its message stops no other reply', { skip }, async () => {
	const deployment = await shop.deploy();
	const refusal = deferred<void>();
	let sent = 0;
	let stops = 0;
	await using visitor = await shop.stay(deployment, {
		before: async ({ context, page }) => {
			page.on('request', (request) => {
				if (request.method() === 'POST' && request.url().endsWith('/stop')) stops++;
			});
			await context.route('**/api/v1/widget/messages', async (route) => {
				if (++sent > 1) return route.continue();
				await refusal.promise;
				return route.fulfill({
					status: 403,
					headers: { 'access-control-allow-origin': '*' },
					json: { error: { code: 'not_now', message: 'No.' } },
				});
			});
		},
	});
	const { chat, page } = visitor;
	await chat.open();
	await chat.ask('Tell me.');
	await until('it is on its way', () => sent === 1);
	await chat.control('Stop the answer').click();
	refusal.resolve();
	await chat.panel.getByText('Not sent').waitFor();
	await page.reload();
	await chat.says('Hello.');
	await chat.control('Send').waitFor();
	assert.equal(stops, 0);
});

test('a page’s message without a connection is sent when the visitor retries', { skip }, async () => {
	const deployment = await shop.deploy();
	const outage = createOutage('**/api/v1/widget/config*', 'connectionrefused');
	await using visitor = await shop.stay(deployment, outage);
	const { chat, page } = visitor;
	await page.waitForFunction('window.Parley?.get()');
	await page.evaluate('Parley.send("From the page")');
	await chat.notice.waitFor();
	await page.evaluate('Parley.send("And this")');
	outage.isDown = false;
	await chat.control('Try again').click();
	await untilAnswered(shop.app.call, deployment, 4);
	assert.equal(await chat.messages.filter({ hasText: 'From the page' }).count(), 1);
});

test('a page’s message is sent even if the page closes the chat before it is loaded', { skip }, async () => {
	// Before and after the button is shown.
	for (const moment of ['', 'await new Promise((resolve) => Parley.on("ready", resolve));']) {
		const deployment = await shop.deploy();
		const tag = embed(shop.app.url, deployment).replace(' async', '');
		const script = `${tag}<script type="module">${moment} Parley.send("From the page"); Parley.close();</script>`;
		await using visitor = await shop.visit(deployment, { script });
		await untilAnswered(shop.app.call, deployment, 2);
		assert.equal(await visitor.chat.panel.isVisible(), false);
	}
});

test('shows queued messages, and puts unsent texts into the field of a new conversation', {
	skip,
}, async () => {
	const deployment = await shop.deploy({
		rate_limit: { messages_per_minute: 1 },
		appearance: { suggested_questions: ['How long?'] },
	});
	await using visitor = await shop.stay(deployment);
	const { chat, page } = visitor;
	await page.clock.install();
	await chat.open();
	await chat.askAndWait('One');
	await chat.ask('Two, a long one');
	await chat.notice.getByText('That was a lot at once').waitFor();
	await page.evaluate('Parley.send("Three")');
	await chat.messages.filter({ hasText: 'Three' }).waitFor();
	await chat.restart();
	assert.equal(await chat.field.inputValue(), 'Two, a long one\nThree');
	assert.equal(await chat.control('How long?').isDisabled(), true);
	await shop.app.call('PATCH', `/api/v1/deployments/${deployment}`, { rate_limit: { messages_per_minute: 5 } });
	await page.clock.fastForward(61_000);
	await chat.notice.waitFor({ state: 'detached' });
	assert.equal(await chat.control('How long?').isDisabled(), false);
	assert.equal((await stored(shop.app.call, deployment)).length, 2, 'nothing went by itself');

	// The same with a conversation that was closed.
	const other = await shop.deploy();
	await using guest = await shop.visit(other);
	await guest.chat.open();
	await guest.chat.askAndWait('One');
	await shop.app.call('DELETE', await conversationPath(shop.app.call, other));
	await guest.chat.ask('A long question');
	await guest.chat.notice.getByText('This conversation is closed').waitFor();
	await guest.chat.notice.getByRole('button').click();
	assert.equal(await guest.chat.field.inputValue(), 'A long question');
	await guest.chat.field.press('Enter');
	await guest.chat.says('Hello.');
});

test('announces several messages of a person that arrive at once, in order', { skip }, async () => {
	const deployment = await shop.deploy({ features: { streaming: false } });
	const { call } = shop.app;
	await using visitor = await shop.stay(deployment);
	const { chat, page } = visitor;
	await page.clock.install();
	await chat.open();
	await chat.askAndWait('Is anybody there?');
	const conversation = await conversationPath(shop.app.call, deployment);
	await call('POST', `${conversation}/takeover`);
	await page.evaluate('window.told = []; Parley.on("message", ({ message }) => told.push(message.content))');
	// A request that is under way when the line is cut could still bring the first message alone.
	const cut = page.waitForEvent('requestfailed');
	await visitor.context.setOffline(true);
	await page.clock.fastForward(30_000);
	await cut;
	await call('POST', `${conversation}/messages`, { content: 'FIRST', name: 'Maria' });
	await call('POST', `${conversation}/messages`, { content: 'SECOND', name: 'Maria' });
	await visitor.context.setOffline(false);
	await page.clock.fastForward(60_000);
	await chat.says('SECOND');
	assert.deepEqual(await page.evaluate('told'), ['FIRST', 'SECOND']);
	await chat.live.getByText(/Maria: FIRST\s+Maria: SECOND/).waitFor();
});

test('announces a person’s answer on the next page while the chat is closed', { skip }, async () => {
	const deployment = await shop.deploy();
	const { call } = shop.app;
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	await chat.askAndWait('Is anybody there?');
	const conversation = await conversationPath(shop.app.call, deployment);
	await call('POST', `${conversation}/takeover`);
	await chat.ask('A person, please.');
	await until('it is stored', async () => (await stored(call, deployment)).length === 3);
	await chat.control('Send').waitFor();
	await chat.control('Close chat').click();
	const address = page.url();
	// No request of the previous page is open.
	await page.goto('about:blank');
	await Promise.all([page.waitForResponse(/\/events\?/), page.goto(address)]);
	await call('POST', `${conversation}/messages`, { content: 'Here I am.', name: 'Maria' });
	await chat.button.and(page.getByLabel('Open chat (1)')).waitFor();
	assert.equal(await chat.panel.isVisible(), false);
	await chat.live.getByText('Maria: Here I am.').waitFor({ state: 'attached' });
	// A new conversation does not wait for a person.
	await chat.button.click();
	await chat.restart();
	await chat.control('Close chat').click();
	let chats = 0;
	page.on('request', (request) => {
		if (/\/widget\/chat-/.test(request.url())) chats++;
	});
	await page.reload();
	await page.waitForFunction('window.Parley?.get() && document.querySelector("parley-widget")');
	await chat.button.waitFor();
	assert.equal(chats, 0);
});

test('scrolls an opened source into view', { skip }, async () => {
	const deployment = await shop.deploy({}, { model: 'builtin/extractive' });
	await addDocuments(shop.app.call, deployment);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	for (const round of [0, 1]) {
		await chat.ask('How long is the warranty of a kettle?');
		await chat.messages
			.nth(2 * round + 2)
			.locator('.footer')
			.waitFor();
	}
	const [one, two] = [chat.messages.nth(2), chat.messages.nth(4)];
	await one.locator('.chip').first().click();
	await one.locator('.source').waitFor();
	await two.locator('.chip').first().click();
	await two.locator('.source').waitFor();
	const isInSight = await chat.of(
		'.log',
		'(() => { const log = element.getBoundingClientRect(), { top, bottom } = [...element.querySelectorAll(".source")][1].getBoundingClientRect(); return top >= log.top - 1 && bottom <= log.bottom + 1 })()',
	);
	assert.equal(isInSight, true);
});

test('keeps list markers inside, and gives lists and tables the direction of their text', { skip }, async () => {
	shop.model.enqueue([
		{
			say: '- واحد\n- اثنان\n\ntext\n\n98. a\n99. b\n100. c\n101. d\n\n| اسم | رقم |\n|---|---|\n| نعم | 1 |',
		},
	]);
	await using visitor = await shop.visit(await shop.deploy());
	const { chat } = visitor;
	await chat.open();
	await chat.ask('List them.');
	await chat.reply.locator('.footer').waitFor();
	const directions = await chat.of(
		'.log',
		'[...element.querySelectorAll("ul, ol, table")].map((one) => getComputedStyle(one).direction)',
	);
	assert.deepEqual(directions, ['rtl', 'ltr', 'rtl']);
	// A marker has the width of its digits, its point and a space.
	const { padding, mark } = (await chat.of(
		'ol',
		'(() => { const style = getComputedStyle(element), pen = document.createElement("canvas").getContext("2d"); pen.font = style.font; return { padding: parseFloat(style.paddingInlineStart), mark: pen.measureText("101. ").width } })()',
	)) as { padding: number; mark: number };
	assert.ok(mark > 20 && padding >= mark, `${padding} for ${mark}`);
});

test('returns the focus to the page’s own button when the chat closes', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment, { attributes: 'data-launcher="false"' });
	const { chat, page } = visitor;
	await page.waitForFunction('window.Parley?.get()');
	await page.evaluate(
		'(() => { const own = document.createElement("button"); own.id = "own"; own.textContent = "Help"; own.onclick = () => Parley.open(); document.querySelector("main").append(own) })()',
	);
	await page.locator('#own').focus();
	await page.keyboard.press('Enter');
	await chat.field.waitFor();
	await page.waitForFunction('document.activeElement.localName === "parley-widget"');
	await page.keyboard.press('Escape');
	await chat.panel.waitFor({ state: 'hidden' });
	assert.equal(await page.evaluate('document.activeElement.id'), 'own');
});

test('a removed widget returns when the page opens it', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	await chat.ask('One?');
	await chat.says('Hello.');
	// Open, and closed.
	for (const before of ['', 'Parley.close();']) {
		await page.evaluate(`${before} document.querySelector('parley-widget').remove()`);
		await page.evaluate('Parley.open()');
		await chat.field.waitFor();
		await chat.messages.filter({ hasText: 'One?' }).waitFor();
	}
	await page.evaluate('Parley.destroy(); Parley.get()?.open()');
	assert.equal(await chat.host.count(), 0);
});

test('the module can be imported without a browser and by bundlers that follow imports', async () => {
	const module = new URL('../../.build/widget/widget.mjs', import.meta.url);
	const text = `import(${JSON.stringify(module.href)}).then(({ createWidget }) => console.log(typeof createWidget))`;
	const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', text], {
		timeout: 30_000,
	});
	assert.equal(stdout.trim(), 'function');
	const code = readFileSync(fileURLToPath(module), 'utf8');
	const imports = code.match(/\bimport\(.{0,60}/g) ?? [];
	assert.ok(imports.length > 0);
	for (const one of imports) assert.match(one, /^import\(\/\* webpackIgnore: true \*\/ ?\/\* @vite-ignore \*\//);
});
