import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { chatOn, createOutage, openShop, type Shop, stored, untilAnswered } from './shop.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

/** The visitor's messages that the server has stored. */
const asked = async (deployment: string) =>
	(await stored(shop.app.call, deployment)).filter(({ role }) => role === 'user').map(({ content }) => content);

/** A visitor whose messages do not reach the server until the outage ends. */
async function stayBehind(deployment: string, context?: object) {
	const outage = createOutage('**/api/v1/widget/messages');
	const visitor = await shop.stay(deployment, { ...(context ? { context } : {}), before: outage.before });
	return Object.assign(visitor, { outage });
}

test('queues messages during a reply, lets the visitor cancel them, and sends them in order after it', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	const rest = deferred<void>();
	shop.model.enqueue(
		[{ say: 'It is ' }, { wait: rest.promise }, { say: 'so.' }],
		[{ say: 'Two.' }],
		[{ say: 'Four.' }],
	);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('One?');
	await chat.says('It is');
	for (const text of ['Two?', 'Three?', 'Four?']) {
		await chat.field.fill(text);
		// During the answer there is a send button beside the stop button.
		await chat.control('Send').waitFor();
		await chat.control('Stop the answer').waitFor();
		await chat.field.press('Enter');
		await chat.messages.filter({ hasText: text }).getByText('Waiting to be sent').waitFor();
		assert.equal(await chat.field.inputValue(), '');
	}
	assert.deepEqual(await asked(deployment), ['One?']);
	await chat.messages.filter({ hasText: 'Three?' }).getByRole('button', { name: 'Cancel' }).click();
	// The cancelled text is in the field again.
	assert.equal(await chat.field.inputValue(), 'Three?');
	await chat.field.fill('');
	rest.resolve();
	await chat.says('Four.');
	await chat.control('Send').waitFor();
	assert.deepEqual(
		(await stored(shop.app.call, deployment)).map(({ content }) => content),
		['One?', 'It is so.', 'Two?', 'Two.', 'Four?', 'Four.'],
	);
	assert.equal(await chat.panel.getByText('Waiting to be sent').count(), 0);
});

test('messages written offline survive a reload and are sent once and in order', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	await using visitor = await stayBehind(deployment);
	const { chat, page, outage } = visitor;
	await chat.open();
	for (const text of ['One', 'Two', 'Three']) {
		await chat.field.fill(text);
		await chat.field.press('Enter');
		await chat.messages.filter({ hasText: text }).getByText('Waiting to be sent').waitFor();
	}
	await page.reload();
	for (const text of ['One', 'Two', 'Three']) await chat.messages.filter({ hasText: text }).waitFor();
	outage.isDown = false;
	await untilAnswered(shop.app.call, deployment, 6);
	assert.deepEqual(await asked(deployment), ['One', 'Two', 'Three']);
	await chat.panel.getByText('Waiting to be sent').first().waitFor({ state: 'detached' });
	assert.equal(await page.evaluate(`JSON.parse(localStorage.getItem('parley:${deployment}')).queue.length`), 0);
});

test('the next page sends queued messages even if its chat is closed', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await stayBehind(deployment);
	const { chat, page, outage } = visitor;
	await chat.open();
	for (const text of ['One', 'Two']) {
		await chat.field.fill(text);
		await chat.field.press('Enter');
		await chat.messages.filter({ hasText: text }).getByText('Waiting to be sent').waitFor();
	}
	await chat.control('Close chat').click();
	outage.isDown = false;
	await page.reload();
	// Two answers came.
	await chat.button.and(page.getByLabel('Open chat (2)')).waitFor();
	assert.deepEqual(await asked(deployment), ['One', 'Two']);
});

test('a message cancelled in one tab is not sent by another', { skip }, async () => {
	const deployment = await shop.deploy();
	const rest = deferred<void>();
	shop.model.enqueue([{ say: 'It is ' }, { wait: rest.promise }, { say: 'so.' }]);
	await using visitor = await shop.stay(deployment);
	const { chat, page, context } = visitor;
	await chat.open();
	await chat.ask('One?');
	await chat.says('It is');
	for (const text of ['Not this', 'But this']) {
		await chat.field.fill(text);
		await chat.field.press('Enter');
	}
	await chat.messages.filter({ hasText: 'But this' }).getByText('Waiting to be sent').waitFor();
	const other = await context.newPage();
	await other.goto(page.url());
	const second = chatOn(other);
	await second.open();
	await second.messages.filter({ hasText: 'Not this' }).waitFor();
	await chat.messages.filter({ hasText: 'Not this' }).getByRole('button', { name: 'Cancel' }).click();
	rest.resolve();
	await untilAnswered(shop.app.call, deployment, 4);
	await second.messages.filter({ hasText: 'Not this' }).waitFor({ state: 'detached' });
	await chat.control('Send').waitFor();
	assert.deepEqual(await asked(deployment), ['One?', 'But this']);
});

test('keeps a message in the field and shows why if the queue is full', { skip }, async () => {
	const deployment = await shop.deploy({ rate_limit: { messages_per_minute: 600 } });
	await using visitor = await stayBehind(deployment);
	const { chat, page } = visitor;
	await chat.open();
	await page.evaluate('window.refused = []; Parley.on("error", ({ code }) => refused.push(code))');
	// One is being sent, and twenty wait.
	for (let sent = 1; sent <= 21; sent++) {
		await chat.field.fill(`Message ${sent}`);
		await chat.field.press('Enter');
	}
	await chat.notice.getByText('Many messages are waiting').waitFor();
	await chat.field.fill('One more');
	await chat.field.press('Enter');
	assert.equal(await chat.field.inputValue(), 'One more');
	await page.evaluate('Parley.send("From the page")');
	await page.waitForFunction('refused.includes("queue_full")');
	// The first one is among them as soon as its connection has failed.
	const undelivered = chat.messages.locator('.trouble');
	await until('all are shown as not sent', async () => (await undelivered.count()) === 21);
});
