import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { embed, noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openShop, type Shop, stored } from './shop.ts';
import { TOKENS, tokenFor } from './tokens.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

const identify = (page: Page, sub: string, seconds?: number) =>
	page.evaluate(`Parley.identify(${JSON.stringify(tokenFor(sub, seconds))})`);

/** Counts events of a page by name. */
const countEvents = (page: Page) =>
	page.evaluate(
		'window.counts = {}; for (const event of ["unauthorized", "error"]) Parley.on(event, () => { counts[event] = (counts[event] ?? 0) + 1 })',
	);

/** The lines of docs/widget.md that identify visitors. */
const SNIPPET = readFileSync(new URL('../../docs/widget.md', import.meta.url), 'utf8')
	.split('```js\n')
	.map((text) => text.split('```')[0] as string)
	.find((text) => text.includes('/chat-token')) as string;

test('asks a page with refused tokens for new ones at growing intervals, with the code of docs/widget.md', {
	skip,
}, async () => {
	const deployment = await shop.deploy(TOKENS);
	shop.site.serve('/chat-token', tokenFor('ada', -600));
	const posts: number[] = [];
	await using visitor = await shop.stay(deployment, {
		script: `${embed(shop.app.url, deployment)}<script type="module">${SNIPPET}</script>`,
		before: async ({ page, context }) => {
			await page.clock.install();
			// Each response is another expired token, as from a website whose clock is wrong.
			let made = 0;
			await context.route('**/chat-token', (route) => route.fulfill({ body: tokenFor('ada', -1_000 * ++made) }));
			page.on('request', (request) => {
				if (request.method() === 'POST' && request.url().endsWith('/widget/messages')) posts.push(Date.now());
			});
		},
	});
	const { chat, page } = visitor;
	await chat.open();
	await chat.notice.waitFor({ state: 'detached' });
	await chat.ask('Who am I?');
	// The first refusal is retried at once, later ones after a delay of one or two seconds.
	await until('it was refused three times', () => posts.length === 3);
	const [, second = 0, third = 0] = posts;
	assert.ok(third - second >= 900, `${third - second} ms`);
	// A valid token is used without an action of the visitor.
	await visitor.context.unroute('**/chat-token');
	shop.site.serve('/chat-token', tokenFor('ada'));
	await page.clock.fastForward(25_000);
	await chat.says('Hello.');
	assert.equal(posts.length, 4);
	assert.equal((await stored(shop.app.call, deployment)).length, 2);
});

test('does not try a refused token again', { skip }, async () => {
	const deployment = await shop.deploy(TOKENS);
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	let posts = 0;
	page.on('request', (request) => {
		if (request.method() === 'POST') posts++;
	});
	await chat.open();
	const token = tokenFor('ada', -600);
	await page.evaluate(`Parley.on('unauthorized', () => Parley.identify('${token}')); Parley.identify('${token}')`);
	await chat.notice.waitFor({ state: 'detached' });
	await chat.ask('Who am I?');
	await chat.notice.getByText('Please sign in').waitFor();
	// The next one is sent after all that this one could have set off.
	await identify(page, 'ada');
	await chat.says('Hello.');
	assert.equal(posts, 2);
});

test('the code of docs/widget.md finds the widget even if the widget’s script ran first', { skip }, async () => {
	const deployment = await shop.deploy(TOKENS);
	shop.site.serve('/chat-token', tokenFor('ada'));
	// Not async: it has run when the page's own lines do.
	const tag = embed(shop.app.url, deployment).replace(' async', '');
	await using visitor = await shop.visit(deployment, { script: `${tag}<script type="module">${SNIPPET}</script>` });
	await visitor.chat.open();
	await visitor.chat.notice.waitFor({ state: 'detached' });
	await visitor.chat.ask('Who am I?');
	await visitor.chat.says('Hello.');
});

test('leaves nothing of one visitor for the next: no late message, no draft, no notice', {
	skip,
}, async () => {
	const deployment = await shop.deploy({ ...TOKENS, rate_limit: { messages_per_minute: 600 } });
	const { call } = shop.app;
	const token = tokenFor('ada');
	let id = '';
	for (let sent = 0; sent < 27; sent++) {
		const body = { deployment_id: deployment, content: `Ada ${sent}`, ...(id ? { conversation_id: id } : {}) };
		const answer = await shop.app.callAsVisitor('POST', '/api/v1/widget/messages', body, {
			authorization: `Bearer ${token}`,
			origin: new URL(shop.site.url()).origin,
		});
		assert.equal(answer.status, 201, JSON.stringify(answer.body));
		id = answer.body.conversation_id;
	}
	let release = () => {};
	const isReleased = new Promise<void>((resolve) => {
		release = resolve;
	});
	let asked = 0;
	await using visitor = await shop.stay(deployment, {
		before: async ({ context, page }) => {
			await page.addInitScript(
				`localStorage.setItem('parley:${deployment}:ada', ${JSON.stringify(JSON.stringify({ conversation: id }))})`,
			);
			await context.route('**/messages?*cursor=*', async (route) => {
				asked++;
				await isReleased;
				await route.continue().catch(() => {});
			});
		},
	});
	const { chat, page } = visitor;
	await chat.open();
	await identify(page, 'ada');
	await chat.control('Earlier messages').click();
	await until('older ones are asked for', () => asked === 1);
	await chat.field.fill('My secret is');
	await identify(page, 'grace');
	await until('the chat is empty', async () => (await chat.messages.count()) === 1);
	assert.equal(await chat.field.inputValue(), '');
	assert.equal(await chat.live.textContent(), '');
	release();
	await chat.ask('I am Grace.');
	await chat.says('Hello.');
	assert.equal(await chat.messages.filter({ hasText: 'Ada' }).count(), 0);
	await chat.control('Send').waitFor();

	// A notice about her conversation is not shown for the next one, whose visitor keeps theirs.
	const { body } = await call('GET', `/api/v1/conversations?deployment_id=${deployment}&end_user_id=grace`);
	await call('DELETE', `/api/v1/conversations/${body.data[0].id}`);
	await chat.ask('Are you there?');
	await chat.notice.getByText('This conversation is closed').waitFor();
	await identify(page, 'ada');
	await chat.notice.waitFor({ state: 'detached' });
	await chat.messages.filter({ hasText: 'Ada 26' }).waitFor();
	assert.equal(await chat.field.isEditable(), true);
});

test('reports every refused token to the page: at the start, of a rating, and where tokens were optional before', {
	skip,
}, async () => {
	const deployment = await shop.deploy(TOKENS);
	const { call } = shop.app;
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.button.waitFor();
	await countEvents(page);
	await chat.open();
	await page.waitForFunction('counts.unauthorized === 1');
	await identify(page, 'ada');
	await chat.askAndWait('One?');
	await identify(page, 'ada', -600);
	await chat.control('Helpful').click();
	await chat.notice.getByText('Please sign in').waitFor();
	await page.waitForFunction('counts.unauthorized >= 2');

	const open = await shop.deploy();
	await using other = await shop.visit(open);
	await other.chat.open();
	await countEvents(other.page);
	await call('PATCH', `/api/v1/deployments/${open}`, TOKENS);
	await other.chat.ask('And now?');
	await other.chat.notice.getByText('Please sign in').waitFor();
	await other.page.waitForFunction('counts.unauthorized === 1');
	// A message that the anonymous visitor could not send is sent with the first token.
	await identify(other.page, 'ada');
	await other.chat.says('Hello.');
	assert.deepEqual(
		(await stored(call, open)).map(({ content }) => content),
		['And now?', 'Hello.'],
	);
});

test('shows how long to wait after too many ratings', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.stay(deployment, {
		before: ({ context }) =>
			context.route('**/feedback', (route) =>
				route.fulfill({
					status: 429,
					headers: { 'access-control-allow-origin': '*' },
					json: { error: { code: 'rate_limit_exceeded', message: 'Too many.', retry_after: 30 } },
				}),
			),
	});
	const { chat } = visitor;
	await chat.open();
	await chat.ask('One?');
	await chat.says('Hello.');
	await chat.control('Helpful').click();
	await chat.notice.getByText('You can go on in').waitFor();
	// Heard as it is seen: with the seconds.
	await chat.live.getByText(/You can go on in (30|29|28|27) s\./).waitFor();
	assert.equal(await chat.control('Helpful').getAttribute('aria-pressed'), 'false');
});
