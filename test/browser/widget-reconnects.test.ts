import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { noBrowser } from '../support/browser.ts';
import { startCuttableProxy } from '../support/cuttable-proxy.ts';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import {
	chatOn,
	conversationPath,
	deploy,
	openShop,
	type Shop,
	STORAGE_REFUSED,
	stored,
	untilAnswered,
} from './shop.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

test('a reload during a reply shows the earlier messages and continues the reply', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	const rest = deferred<void>();
	shop.model.enqueue(
		[{ say: 'First.' }],
		[{ say: 'The beginning, ' }, { wait: rest.promise }, { say: 'and the end.' }],
	);
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	await chat.askAndWait('One?', 'First.');
	await chat.ask('Two?');
	await chat.says('The beginning,');
	const asked = shop.model.calls.length;
	await page.reload();
	// The chat was open before the reload and opens again.
	await chat.says('The beginning,');
	assert.deepEqual(
		(await chat.messages.locator('.text').allInnerTexts()).map((text) => text.trim()),
		['Hi! How can I help you?', 'One?', 'First.', 'Two?', 'The beginning,'],
	);
	rest.resolve();
	await chat.says('The beginning, and the end.');
	await chat.control('Send').waitFor();
	assert.equal(shop.model.calls.length, asked);
	assert.equal((await stored(shop.app.call, deployment)).length, 4);
	assert.deepEqual(visitor.problems, []);
});

test('resumes a reply after a cut connection at its position, without another model call', {
	skip,
}, async () => {
	await using proxy = await startCuttableProxy(Number(new URL(shop.app.url).port));
	const deployment = await shop.deploy();
	const rest = deferred<void>();
	shop.model.enqueue([{ say: 'The beginning, ' }, { wait: rest.promise }, { say: 'and the end.' }]);
	const script = `<script src="${proxy.url}/widget.js" data-deployment-id="${deployment}" async></script>`;
	await using visitor = await shop.visit(deployment, { script });
	const { chat } = visitor;
	await chat.open();
	await chat.ask('Tell me.');
	await chat.says('The beginning,');
	const asked = shop.model.calls.length;
	proxy.cut();
	await chat.notice.getByText('The connection was lost. Reconnecting …').waitFor();
	rest.resolve();
	await until('the reply is whole', async () => (await stored(shop.app.call, deployment))[1]?.status === 'completed');
	proxy.restore();
	await chat.says('The beginning, and the end.');
	await chat.notice.waitFor({ state: 'detached' });
	assert.equal(shop.model.calls.length, asked);
	assert.equal((await stored(shop.app.call, deployment)).length, 2);
});

test('a message sent while the connection is cut arrives once, even if the page reloads meanwhile', {
	skip,
}, async () => {
	await using proxy = await startCuttableProxy(Number(new URL(shop.app.url).port));
	const deployment = await shop.deploy();
	const script = `<script src="${proxy.url}/widget.js" data-deployment-id="${deployment}" async></script>`;
	await using visitor = await shop.visit(deployment, { script });
	const { chat, page } = visitor;
	await chat.open();
	await chat.askAndWait('One?');
	const asked = shop.model.calls.length;
	proxy.cut();
	await chat.ask('Two?');
	await chat.notice.getByText('The connection was lost').waitFor();
	await page.goto('about:blank');
	proxy.restore();
	await page.goBack();
	await untilAnswered(shop.app.call, deployment, 4);
	await chat.messages.nth(4).waitFor();
	await chat.control('Send').waitFor();
	assert.equal(shop.model.calls.length, asked + 1);
	assert.deepEqual(
		(await stored(shop.app.call, deployment)).map(({ content }) => content),
		['One?', 'Hello.', 'Two?', 'Hello.'],
	);
});

test('answers a message once if the first response is lost', { skip }, async () => {
	const deployment = await shop.deploy();
	const asked = shop.model.calls.length;
	let lost = 0;
	await using visitor = await shop.stay(deployment, {
		before: ({ context }) =>
			context.route('**/api/v1/widget/messages', async (route) => {
				if (route.request().method() !== 'POST' || lost++ > 0) return route.continue();
				await route.fetch();
				await route.abort('connectionreset');
			}),
	});
	const { chat } = visitor;
	await chat.open();
	await chat.ask('Once?');
	await chat.says('Hello.');
	assert.equal(lost, 2);
	assert.equal(shop.model.calls.length, asked + 1);
	assert.equal((await stored(shop.app.call, deployment)).length, 2);
});

test('shows that the browser is offline, and sends the message when it is online', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.stay(deployment);
	const { chat, context } = visitor;
	await chat.open();
	await context.setOffline(true);
	await chat.notice.getByText('You are offline.').waitFor();
	await chat.ask('Later?');
	await chat.messages.filter({ hasText: 'Later?' }).waitFor();
	await context.setOffline(false);
	await chat.says('Hello.');
	await chat.notice.waitFor({ state: 'detached' });
	assert.equal((await stored(shop.app.call, deployment)).length, 2);
});

test('a server that is killed during a reply and restarted completes it on the open page', {
	skip,
}, async () => {
	const { model, site, browser } = shop;
	const provider = { ...model.provider(), api_key: undefined, api_key_env: 'STAND_IN_KEY' };
	const { id, type, base_url, api_key_env } = provider;
	const env = {
		PARLEY_PROVIDERS: JSON.stringify([{ id, type, base_url, api_key_env }]),
		STAND_IN_KEY: 'sk-stand-in-0123456789abcdef',
	};
	await using first = await startServer({ env });
	await using proxy = await startCuttableProxy(first.port);
	const deployment = await deploy(first.call);
	model.enqueue(
		[{ say: 'The first beginning ' }, { hang: true }],
		[{ say: 'The second one, ' }, { say: 'to its end.' }],
	);
	site.serve(
		'/killed',
		`<!doctype html><script src="${proxy.url}/widget.js" data-deployment-id="${deployment}" data-open></script>`,
	);
	await using visitor = await browser.visitor();
	await visitor.page.goto(site.url('/killed'));
	const chat = chatOn(visitor.page);
	await chat.field.waitFor();
	await chat.ask('Tell me.');
	await chat.says('The first beginning');
	proxy.cut();
	await first.kill();
	await chat.notice.getByText('The connection was lost').waitFor();
	await using second = await startServer({ env, dataDir: first.dataDir, key: first.key });
	proxy.restore(second.port);
	await chat.says('The second one, to its end.');
	await chat.control('Send').waitFor();
	assert.equal(await chat.messages.filter({ hasText: 'The first beginning' }).count(), 0);
	assert.deepEqual(
		(await stored(second.call, deployment)).map(({ role, status }) => `${role} ${status}`),
		['user completed', 'assistant completed'],
	);
});

test('shows that a conversation was closed or erased, and starts a new one', { skip }, async () => {
	const deployment = await shop.deploy();
	const { call } = shop.app;
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.askAndWait('One?');
	const conversation = await conversationPath(call, deployment);
	await call('DELETE', conversation);
	await chat.ask('Two?');
	await chat.notice.getByText('This conversation is closed.').waitFor();
	await chat.notice.getByRole('button', { name: 'New conversation' }).click();
	await chat.ask('Three?');
	await chat.says('Hello.');
	const { body: both } = await call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
	assert.equal(both.data.length, 2);
	await call('DELETE', `/api/v1/conversations/${both.data[0].id}?purge=true`);
	await chat.notice.getByRole('button', { name: 'New conversation' }).click();
	await chat.ask('Four?');
	await until('there is another conversation', async () => {
		const { body: after } = await call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
		return after.data.length === 2 && after.data[0].id !== both.data[0].id;
	});
});

test('the chat works in a browser that refuses storage', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.stay(deployment, {
		before: ({ context }) => context.addInitScript(STORAGE_REFUSED),
	});
	const { chat } = visitor;
	await chat.open();
	await chat.askAndWait('One?');
	await chat.ask('Two?');
	await untilAnswered(shop.app.call, deployment, 4);
	assert.deepEqual(visitor.problems, []);
});
