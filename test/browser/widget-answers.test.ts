import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { noBrowser, OTHER_SITE } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { addDocuments, chatOn, conversationPath, openShop, type Shop, stored, untilAnswered } from './shop.ts';
import { TOKENS, tokenFor } from './tokens.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

test('a visitor opens the chat, asks, and gets the answer with its source', { skip }, async () => {
	const deployment = await shop.deploy({}, { model: 'builtin/extractive' });
	await addDocuments(shop.app.call, deployment);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('How many days do I have to return an order?');
	await chat.says('45 days');
	await chat.control('Source 1').first().click();
	const source = chat.panel.getByRole('group', { name: 'Source 1' });
	await source.waitFor();
	// The passage as one reads it, not as it is marked up.
	assert.equal(await source.locator('strong', { hasText: 'whole' }).count(), 1);
	assert.match((await source.textContent()) ?? '', /^1[^#*]*You have 45 days to return an order[^#*]*$/s);
	// Above it the document that it is from.
	assert.equal((await chat.panel.locator('.origin').textContent())?.trim(), 'Returns');
	await chat.control('Source 1').first().click();
	await source.waitFor({ state: 'detached' });
	assert.deepEqual(
		{ problems: visitor.problems, foreignRequests: visitor.foreignRequests },
		{ problems: [], foreignRequests: [] },
	);
});

test('a click on a suggestion asks it, and the answer streams in', { skip }, async () => {
	const deployment = await shop.deploy({
		appearance: { greeting: '**Welcome!**', suggested_questions: ['Is it open?', 'Where are you?'] },
	});
	const rest = deferred<void>();
	shop.model.enqueue([{ say: 'Yes, until ' }, { wait: rest.promise }, { say: '**six** `o’clock`.' }]);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	assert.equal(await chat.messages.first().locator('strong').textContent(), 'Welcome!');
	await chat.control('Is it open?').click();
	await chat.says('Yes, until');
	await chat.control('Stop the answer').waitFor();
	assert.equal(await chat.control('Where are you?').count(), 0);
	rest.resolve();
	await chat.says('Yes, until six o’clock.');
	await chat.control('Send').waitFor();
	assert.equal(await chat.reply.locator('strong').textContent(), 'six');
});

test('a stopped reply keeps its text', { skip }, async () => {
	const deployment = await shop.deploy();
	shop.model.enqueue([{ say: 'It is a long story' }, { hang: true }]);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('Tell me.');
	await chat.says('It is a long story');
	await chat.control('Stop the answer').click();
	await chat.panel.getByText('Stopped').waitFor();
	assert.deepEqual((await stored(shop.app.call, deployment)).at(-1), {
		role: 'assistant',
		content: 'It is a long story',
		status: 'stopped',
	});
	await chat.ask('And now?');
	await chat.says('Hello.');
});

test('a visitor rates a reply, changes the rating and removes it', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('Hello?');
	await chat.says('Hello.');
	const rating = async () => {
		const conversation = await conversationPath(shop.app.call, deployment);
		const { body: list } = await shop.app.call('GET', `${conversation}/messages`);
		return list.data[1].feedback;
	};
	const isPressed = (name: string) => chat.control(name).and(chat.panel.locator('[aria-pressed=true]'));
	await chat.control('Helpful').click();
	await isPressed('Helpful').waitFor();
	await until('it is rated up', async () => (await rating()) === 'up');
	await chat.control('Not helpful').click();
	await until('it is rated down', async () => (await rating()) === 'down');
	await isPressed('Not helpful').waitFor();
	await isPressed('Helpful').waitFor({ state: 'detached' });
	await chat.control('Not helpful').click();
	await until('it is not rated', async () => (await rating()) === null);
});

test('a failed reply is retried for the same message', { skip }, async () => {
	const deployment = await shop.deploy();
	shop.model.enqueue([{ status: 400, body: '{"error":{"message":"no"}}' }], [{ say: 'Here it is.' }]);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('What is it?');
	await chat.reply.getByText('The answer could not be written.').waitFor();
	await chat.control('Try again').click();
	await chat.says('Here it is.');
	await chat.control('Send').waitFor();
	assert.deepEqual(
		(await stored(shop.app.call, deployment)).map(({ role, status }) => `${role} ${status}`),
		['user completed', 'assistant completed'],
	);
});

test('shows how long to wait after too many messages, and keeps the message', { skip }, async () => {
	const deployment = await shop.deploy({ rate_limit: { messages_per_minute: 1 } });
	await using visitor = await shop.stay(deployment);
	const { chat, page } = visitor;
	await page.clock.install();
	await chat.open();
	await chat.ask('One');
	await chat.says('Hello.');
	await chat.ask('Two');
	await chat.notice.getByText(/That was a lot at once\. You can go on in (\d+) s\./).waitFor();
	assert.equal(await chat.control('Try again').isDisabled(), true);
	await shop.app.call('PATCH', `/api/v1/deployments/${deployment}`, { rate_limit: { messages_per_minute: 5 } });
	await page.clock.fastForward(61_000);
	await chat.notice.waitFor({ state: 'detached' });
	await chat.control('Try again').click();
	await untilAnswered(shop.app.call, deployment, 4);
});

test('shows a notice on a domain that is not allowed, and for an unknown deployment', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	for (const [id, host, sentence] of [
		[deployment, OTHER_SITE, 'This chat is not available on this website.'],
		[`dep_${'0'.repeat(32)}`, undefined, 'This chat is not available any more.'],
	] as const) {
		await using visitor = await shop.visit(id, host ? { host } : {});
		const { chat } = visitor;
		await chat.button.click();
		await chat.notice.getByText(sentence).waitFor();
		assert.equal(await chat.field.isDisabled(), true);
		assert.deepEqual(visitor.problems, []);
	}
});

test('waits for a required token, asks for a new one when it expires, and separates visitors', {
	skip,
}, async () => {
	const deployment = await shop.deploy(TOKENS);
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	const identify = (jwt: string) => page.evaluate(`Parley.identify(${JSON.stringify(jwt)})`);
	await chat.open();
	await chat.notice.getByText('Please sign in on this website to use the chat.').waitFor();
	assert.equal(await chat.field.isDisabled(), true);

	await identify(tokenFor('ada'));
	await chat.notice.waitFor({ state: 'detached' });
	await chat.ask('Who am I?');
	await chat.says('Hello.');

	await page.evaluate('Parley.on("unauthorized", () => { window.asked = true })');
	// In one step: the field closes as soon as the server has refused the token for anything.
	await page.evaluate(`Parley.identify(${JSON.stringify(tokenFor('ada', -600))}); Parley.send('And now?')`);
	await chat.notice.getByText('Please sign in').waitFor();
	assert.equal(await page.evaluate('window.asked'), true);
	// The message that was turned away goes with the next token, by itself.
	await identify(tokenFor('ada'));
	await untilAnswered(shop.app.call, deployment, 4);
	await chat.messages.nth(4).waitFor();

	await identify(tokenFor('grace'));
	await until('nothing of the other one is shown', async () => (await chat.messages.count()) === 1);
	await page.reload();
	await chat.notice.getByText('Please sign in').waitFor();
	await identify(tokenFor('ada'));
	await chat.messages.filter({ hasText: 'Who am I?' }).waitFor();
});

test('during a takeover a person’s messages appear under their name without a reload', { skip }, async () => {
	const deployment = await shop.deploy();
	const { call } = shop.app;
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	await chat.ask('Is anybody there?');
	await chat.says('Hello.');
	const conversation = await conversationPath(call, deployment);
	await call('POST', `${conversation}/takeover`);
	await call('POST', `${conversation}/messages`, { content: 'I am. How can I help?', name: 'Maria' });
	await chat.says('I am. How can I help?');
	assert.equal(await chat.reply.locator('.name span').last().textContent(), 'Maria');
	const asked = shop.model.calls.length;
	await chat.ask('With my kettle.');
	await until('it is stored', async () => (await stored(call, deployment)).at(-1)?.content === 'With my kettle.');
	await call('POST', `${conversation}/messages`, { content: 'Bring it along.', name: 'Maria' });
	await chat.says('Bring it along.');
	assert.equal(shop.model.calls.length, asked);
	// Closed, the chat counts what is said meanwhile.
	await chat.control('Close chat').click();
	await call('POST', `${conversation}/messages`, { content: 'We close at six.', name: 'Maria' });
	await chat.button.and(page.getByLabel('Open chat (1)')).waitFor();
	assert.equal(await chat.host.locator('.badge').textContent(), '1');
	await chat.button.click();
	await chat.says('We close at six.');
	await chat.host.locator('.badge').waitFor({ state: 'hidden' });
});

test('without streaming the chat polls for whole replies and a person’s messages', { skip }, async () => {
	const deployment = await shop.deploy({ features: { streaming: false } });
	const { call } = shop.app;
	shop.model.enqueue([{ status: 400, body: '{}' }], [{ say: 'In one piece.' }]);
	await using visitor = await shop.stay(deployment);
	const { chat, page } = visitor;
	await page.clock.install();
	await chat.open();
	await chat.ask('How?');
	await chat.reply.getByText('The answer could not be written.').waitFor();
	assert.equal(await chat.panel.getByText('Not sent').count(), 0, 'the message is stored');
	await chat.control('Try again').click();
	await chat.says('In one piece.');
	assert.equal(await chat.messages.count(), 3);
	// In a conversation that is known what failed is shown as it is stored.
	shop.model.enqueue([{ status: 400, body: '{}' }], [{ say: 'Again in one piece.' }]);
	await chat.ask('And now?');
	await chat.reply.getByText('The answer could not be written.').waitFor();
	assert.equal(await chat.panel.getByText('Not sent').count(), 0);
	await chat.control('Try again').click();
	await chat.says('Again in one piece.');
	assert.equal(await chat.messages.count(), 5);
	const conversation = await conversationPath(call, deployment);
	await call('POST', `${conversation}/takeover`);
	await call('POST', `${conversation}/messages`, { content: 'It is me.', name: 'Maria' });
	await page.clock.fastForward(10_000);
	await chat.says('It is me.');
	await chat.control('Send').waitFor();
	assert.equal((await stored(call, deployment)).length, 5);
});

test('without rich content a message is shown as plain text', { skip }, async () => {
	const deployment = await shop.deploy({ features: { rich_content: false } });
	shop.model.enqueue([{ say: '**not bold** [a](https://shop.example/)\nand a line' }]);
	await using visitor = await shop.visit(deployment);
	await visitor.chat.open();
	await visitor.chat.ask('How?');
	await visitor.chat.says('**not bold** [a](https://shop.example/)');
	assert.equal(await visitor.chat.reply.locator('a, strong').count(), 0);
	const shown = await visitor.chat.of('.theirs .raw:not(:empty)', 'getComputedStyle(element).whiteSpace');
	assert.equal(shown, 'pre-wrap', 'lines stay lines');
});

test('a button copies code', { skip }, async () => {
	const deployment = await shop.deploy();
	shop.model.enqueue([{ say: 'Run this:\n\n```sh\nkettle --descale\n```\n' }]);
	await using visitor = await shop.stay(deployment, {
		before: ({ context }) =>
			context.addInitScript(
				'navigator.clipboard ??= {}; Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text } } })',
			),
	});
	const { chat, page } = visitor;
	await chat.open();
	await chat.ask('How?');
	await chat.control('Copy code').click();
	await chat.control('Copied').waitFor();
	assert.equal(await page.evaluate('window.copied'), 'kettle --descale');
});

test('a page opens, closes, uses and destroys the widget by script, and gets its events', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment, { attributes: 'data-launcher="false" data-title="Ask us"' });
	const { chat, page } = visitor;
	await page.waitForFunction('window.Parley?.get()');
	await page.evaluate(
		'window.seen = []; for (const event of ["ready", "open", "close", "message"]) Parley.on(event, (detail) => seen.push(event + (detail.message ? " " + detail.message.role : "")))',
	);
	await page.evaluate('Parley.send("From the page")');
	await chat.says('Hello.');
	await chat.control('Send').waitFor();
	assert.equal(await chat.button.isVisible(), false);
	assert.equal(await chat.panel.getAttribute('aria-label'), 'Ask us');
	await page.evaluate('Parley.close()');
	await chat.panel.waitFor({ state: 'hidden' });
	await page.evaluate('Parley.open()');
	await chat.panel.waitFor();
	const seen = (await page.evaluate('window.seen')) as string[];
	assert.deepEqual(
		seen.filter((event) => event !== 'ready'),
		['open', 'message user', 'message assistant', 'close', 'open'],
	);
	await page.evaluate('Parley.destroy()');
	await chat.host.waitFor({ state: 'detached' });
	assert.equal(await page.evaluate('Parley.widgets.length'), 0);
	assert.deepEqual(visitor.problems, []);
});

test('a page imports the widget as a module, and the demo page shows a deployment', { skip }, async () => {
	const deployment = await shop.deploy();
	const script = `<script type="module">
		import { createWidget } from '${shop.app.url}/widget.mjs';
		const widget = createWidget({ deploymentId: '${deployment}', open: true, color: '#a21caf' });
		widget.on('open', () => widget.send('As a module'));
	</script>`;
	await using visitor = await shop.visit(deployment, { script });
	await visitor.chat.says('Hello.');
	assert.equal(await visitor.page.evaluate('typeof Parley'), 'undefined');

	await using guest = await shop.browser.visitor();
	await guest.page.goto(`${shop.app.url}/demo`);
	await guest.page.getByLabel('API key').fill(shop.app.key);
	await guest.page.getByRole('button', { name: 'Make an example' }).click();
	await guest.page.waitForURL(/deployment_id=dep_/);
	const chat = chatOn(guest.page);
	await chat.control('How many days do I have to return an order?').click();
	await chat.says('45 days');
	assert.deepEqual(
		{ problems: guest.problems, foreignRequests: guest.foreignRequests },
		{ problems: [], foreignRequests: [] },
	);
});
