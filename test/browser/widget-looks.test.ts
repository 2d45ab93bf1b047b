import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { embed, noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { addDocuments, conversationPath, openShop, type Shop } from './shop.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

const PHONE = { viewport: { width: 360, height: 640 } };
/** A text that is several times as high as the chat. */
const LONG = Array.from({ length: 60 }, (_, index) => `Paragraph ${index} of a long answer.`).join('\n\n');
/** How many pixels of the log lie above what is seen of it. */
const SCROLLED = 'Math.round(element.scrollTop)';

test('the header shows the assistant’s name, its status, the AI disclosure and the privacy link', {
	skip,
}, async () => {
	const deployment = await shop.deploy({
		appearance: {
			assistant_name: 'Kettle help',
			status_text: 'Answers from our manuals',
			privacy_url: 'https://shop.example/privacy',
		},
	});
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	assert.equal(await chat.panel.getByRole('heading', { name: 'Kettle help' }).count(), 1);
	assert.equal(await chat.panel.locator('#status').textContent(), 'AI assistant · Answers from our manuals');
	assert.equal(await chat.panel.locator('.header .avatar').textContent(), 'K');
	await chat.control('More').click();
	const privacy = chat.panel.getByRole('link', { name: 'Privacy' });
	assert.equal(await privacy.getAttribute('href'), 'https://shop.example/privacy');
});

test('shows the disclosure by default or with the operator’s text, and hides it only by its setting', {
	skip,
}, async () => {
	for (const [settings, shown] of [
		[{}, 'AI assistant'],
		[{ appearance: { disclosure_text: 'A computer answers' } }, 'A computer answers'],
		[{ appearance: { disclosure_text: null } }, 'AI assistant'],
		[{ features: { ai_disclosure: false } }, ''],
	] as const) {
		await using visitor = await shop.visit(await shop.deploy(settings));
		await visitor.chat.open();
		assert.equal(await visitor.chat.panel.locator('#status').textContent(), shown);
	}
});

test('shows the initial of the name if the logo cannot be loaded', { skip }, async () => {
	const appearance = { assistant_name: 'Kettle help', logo_url: 'https://logo.parley.test/logo.png' };
	const deployment = await shop.deploy({ appearance });
	const picture = Buffer.from(
		'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
		'base64',
	);
	for (const isThere of [true, false]) {
		await using visitor = await shop.stay(deployment, {
			before: ({ context }) =>
				context.route(appearance.logo_url, (route) =>
					isThere ? route.fulfill({ contentType: 'image/png', body: picture }) : route.abort(),
				),
		});
		const { chat } = visitor;
		await chat.open();
		if (isThere) {
			await until('the logo is shown', async () => Boolean(await chat.of('.header img', 'element.naturalWidth')));
		} else {
			await chat.panel.locator('.header img').waitFor({ state: 'detached' });
			assert.equal(await chat.panel.locator('.header .avatar').textContent(), 'K');
		}
	}
});

test('shows the initial of the name until the logo is loaded', { skip }, async () => {
	const appearance = { assistant_name: 'Kettle help', logo_url: 'https://logo.parley.test/logo.svg' };
	const loading = deferred<void>();
	await using visitor = await shop.stay(await shop.deploy({ appearance }), {
		before: ({ context }) =>
			context.route(appearance.logo_url, async (route) => {
				await loading.promise;
				const body = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>';
				await route.fulfill({ contentType: 'image/svg+xml', body });
			}),
	});
	const { chat } = visitor;
	await chat.open();
	const letter = chat.panel.locator('.header span.avatar');
	assert.equal(await letter.textContent(), 'K');
	assert.equal(await chat.panel.locator('.header img').isVisible(), false);
	loading.resolve();
	await chat.panel.locator('.header img').waitFor();
	await letter.waitFor({ state: 'detached' });
});

test('shows a short greeting as a title and a long greeting as text', { skip }, async () => {
	for (const [greeting, size] of [
		['What would you like to know?', '20px'],
		['We answer what you want to know of kettles. '.repeat(10), '14px'],
	]) {
		await using visitor = await shop.visit(await shop.deploy({ appearance: { greeting } }));
		await visitor.chat.open();
		assert.equal(await visitor.chat.of('.greeting .text', 'getComputedStyle(element).fontSize'), size);
	}
});

test('shows that a reply was stopped without hovering', { skip }, async () => {
	const deployment = await shop.deploy();
	const rest = deferred<void>();
	shop.model.enqueue([{ say: 'It begins' }, { wait: rest.promise }]);
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	await chat.ask('One?');
	await chat.says('It begins');
	await chat.control('Stop the answer').click();
	const stopped = chat.panel.getByText('Stopped');
	await stopped.waitFor();
	rest.resolve();
	await chat.ask('Two?');
	await chat.says('Hello.');
	await page.mouse.move(0, 0);
	const opacity = await stopped.evaluate((element) => {
		const footer = (element as unknown as { parentElement: object }).parentElement;
		return (globalThis as unknown as { getComputedStyle(of: object): { opacity: string } }).getComputedStyle(footer)
			.opacity;
	});
	assert.equal(opacity, '1');
});

test('Back on a phone closes the chat and leaves the page’s own history unchanged', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.stay(deployment, { context: PHONE });
	const { chat, page } = visitor;
	await page.evaluate("history.replaceState({ page: 1 }, ''); history.pushState({ page: 2 }, '', '?two')");
	const place = () => page.evaluate('[location.search, history.state.page]');
	await chat.open();
	await page.goBack();
	await chat.panel.waitFor({ state: 'hidden' });
	assert.deepEqual(await place(), ['?two', 2]);
	// Closed otherwise it leaves nothing behind to go back to either.
	await chat.open();
	await chat.control('Close chat').click();
	await chat.panel.waitFor({ state: 'hidden' });
	await page.waitForFunction('!("parleyChat" in history.state)');
	assert.deepEqual(await place(), ['?two', 2]);
	await page.goBack();
	await page.waitForFunction('history.state.page === 1');
	assert.equal(await page.evaluate('location.search'), '');
});

test('stores the reason for a thumb down with the rating', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('Hello?');
	await chat.says('Hello.');
	await chat.control('Not helpful').click();
	const field = chat.panel.getByLabel('What was missing or wrong? (optional)');
	await field.fill(' The price. ');
	await chat.control('Submit').click();
	await field.waitFor({ state: 'detached' });
	await chat.panel.getByText('Thank you for your feedback.').waitFor();
	const conversation = await conversationPath(shop.app.call, deployment);
	const { body: list } = await shop.app.call('GET', `${conversation}/messages`);
	assert.deepEqual([list.data[1].feedback, list.data[1].feedback_comment], ['down', 'The price.']);
});

test('keeps the first line of a long answer visible while it streams, and does not move a reader who scrolls', {
	skip,
}, async () => {
	const deployment = await shop.deploy();
	const [more, rest] = [deferred<void>(), deferred<void>()];
	shop.model.enqueue([
		{ say: 'Begun. ' },
		{ wait: more.promise },
		{ say: LONG },
		{ wait: rest.promise },
		{ say: '\n\nEnd.' },
	]);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('Tell me all');
	await chat.says('Begun.');
	more.resolve();
	await chat.says('Paragraph 59');
	await until('the first line is at the top', async () => {
		const at =
			'[element.scrollTop > 0, element.querySelector(".theirs:last-of-type .text").getBoundingClientRect().top - element.getBoundingClientRect().top]';
		const [hasMoved, top] = (await chat.of('.log', at)) as [boolean, number];
		return hasMoved && top >= 0 && top < 60;
	});
	await chat.log.evaluate((log) => {
		(log as unknown as { scrollTop: number }).scrollTop = 300;
	});
	rest.resolve();
	await chat.says('End.');
	await chat.control('Send').waitFor();
	assert.equal(await chat.of('.log', SCROLLED), 300);
});

test('a visitor at the end of a long answer stays there when they rate it', { skip }, async () => {
	const deployment = await shop.deploy();
	shop.model.enqueue([{ say: `${LONG}\n\nEnd.` }]);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.askAndWait('Tell me all', 'End.');
	await chat.of('.log', 'element.scrollTop = element.scrollHeight');
	const end = (await chat.of('.log', SCROLLED)) as number;
	await chat.control('Not helpful').click();
	await chat.panel.locator('.reason').waitFor();
	assert.ok(((await chat.of('.log', SCROLLED)) as number) >= end);
	// What a rating asks for is in sight.
	const isInSight =
		'element.querySelector(".reason").getBoundingClientRect().bottom <= element.getBoundingClientRect().bottom';
	await until('the question for a reason is in sight', () => chat.of('.log', isInSight));
});

test('the theme `auto` follows the page’s declared colour scheme and its changes', { skip }, async () => {
	const deployment = await shop.deploy({ appearance: { theme: 'auto' } });
	await using visitor = await shop.visit(deployment, {
		script: `<style>:root { color-scheme: light dark } :root.night { color-scheme: dark } :root.day { color-scheme: light }</style>${embed(shop.app.url, deployment)}`,
	});
	const { chat, page } = visitor;
	const shade = (wanted: string) => chat.host.locator(`.frame[data-theme=${wanted}]`).waitFor({ state: 'attached' });
	await page.emulateMedia({ colorScheme: 'dark' });
	await shade('dark');
	await page.evaluate("document.documentElement.className = 'day'");
	await shade('light');
	await page.emulateMedia({ colorScheme: 'light' });
	await page.evaluate("document.documentElement.className = 'night'");
	await shade('dark');
});

test('uses the deployment’s font and corners', { skip }, async () => {
	const deployment = await shop.deploy({ appearance: { font_family: 'inherit', radius: 'none' } });
	await using visitor = await shop.visit(deployment, {
		script: `<style>body { font-family: Georgia, fantasy }</style>${embed(shop.app.url, deployment)}`,
	});
	const { chat } = visitor;
	await chat.open();
	assert.equal(await chat.of('.panel', 'getComputedStyle(element).fontFamily'), 'Georgia, fantasy');
	assert.equal(await chat.of('.panel', 'getComputedStyle(element).borderTopLeftRadius'), '0px');
	await using other = await shop.visit(await shop.deploy());
	await other.chat.open();
	assert.match(String(await other.chat.of('.panel', 'getComputedStyle(element).fontFamily')), /^system-ui/);
	assert.equal(await other.chat.of('.panel', 'getComputedStyle(element).borderTopLeftRadius'), '16px');
});

test('groups passages of one document as one source, and orders sources by citation', { skip }, async () => {
	const deployment = await shop.deploy();
	const part = (name: string) => `# ${name}\n\n${`The ${name} of a kettle is described here at length. `.repeat(30)}`;
	await addDocuments(shop.app.call, deployment, [['Manual', ['lid', 'filter', 'base'].map(part).join('\n\n')]]);
	shop.model.enqueue([{ say: 'It is so [2], and so [1].' }]);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('How are the lid, the filter and the base of a kettle described?');
	await chat.says('It is so');
	// The visitor sees them counted in that order.
	await until('the sources are there', async () => (await chat.panel.locator('.reference').count()) === 2);
	assert.deepEqual(await chat.panel.locator('.reference').allTextContents(), ['1', '2']);
	await chat.control('Manual').click();
	const document = chat.panel.locator('.document');
	await document.waitFor();
	assert.equal(await document.count(), 1);
	const names = await document
		.getByRole('group')
		.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
	assert.deepEqual(names, ['Source 1', 'Source 2']);
	// A reference in the text opens its own passage alone.
	await chat.control('Source 2').click();
	await until('the other passage is gone', async () => (await document.getByRole('group').count()) === 1);
	assert.equal(await document.getByRole('group').getAttribute('aria-label'), 'Source 2');
});

test('shows messages that wait for a connection on the visitor’s side', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.stay(deployment);
	const { chat, context } = visitor;
	await chat.open();
	await context.setOffline(true);
	await chat.notice.waitFor();
	for (const text of ['One', 'Two']) {
		await chat.field.fill(text);
		await chat.field.press('Enter');
	}
	await chat.messages.filter({ hasText: 'Two' }).getByText('Waiting to be sent').waitFor();
	const atTheEnd =
		'[...element.querySelectorAll(".mine .text")].map((text) => Math.round(text.parentElement.getBoundingClientRect().right - text.getBoundingClientRect().right))';
	assert.deepEqual(await chat.of('.log', atTheEnd), [0, 0]);
	await context.setOffline(false);
});

test('a source shows its document and pages, and more than three documents share one chip', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.stay(deployment, {
		before: ({ context }) =>
			context.route('**/api/v1/widget/conversations/*/messages?**', async (route) => {
				const response = await route.fetch();
				const body = await response.json();
				const cited = (index: number, document: number, page: number | null) => ({
					...{ index, document_id: `doc_${document}`, title: `Manual ${document}`, url: null, page },
					...{ text: 'So it is.', score: 1 },
				});
				for (const message of body.data) {
					if (message.content === 'Few.')
						message.citations = [cited(1, 1, 12), cited(2, 2, null), cited(3, 1, 3), cited(4, 1, 12)];
					if (message.content === 'Many.') message.citations = [1, 2, 3, 4].map((each) => cited(each, each, each));
				}
				await route.fulfill({ response, json: body });
			}),
	});
	const { chat, page } = visitor;
	await chat.open();
	for (const text of ['Few.', 'Many.']) {
		shop.model.enqueue([{ say: text }]);
		await chat.askAndWait('Which?', text);
	}
	await page.reload();
	await chat.says('Many.');
	const chips = async (text: string) =>
		(await chat.messages.filter({ hasText: text }).locator('.chip').allTextContents()).map((chip) => chip.trim());
	await until('the sources are there', async () => (await chips('Few.')).length > 0);
	assert.deepEqual(await chips('Few.'), ['Manual 1 Pages 3, 12', 'Manual 2']);
	assert.deepEqual(await chips('Many.'), ['Sources (4)']);
	await chat.control('Sources (4)').click();
	assert.equal(await chat.panel.locator('.document').count(), 4);
});

test('a draft survives a reload until it is sent', { skip }, async () => {
	const deployment = await shop.deploy();
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	await chat.field.fill('Half a');
	await page.reload();
	await until('the draft is back', async () => (await chat.field.inputValue()) === 'Half a');
	await chat.ask('Half a question');
	await chat.says('Hello.');
	await page.reload();
	await chat.says('Hello.');
	assert.equal(await chat.field.inputValue(), '');
});

test('shows that a person will answer until the person does', { skip }, async () => {
	const deployment = await shop.deploy();
	const { call } = shop.app;
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('One?');
	await chat.says('Hello.');
	const conversation = await conversationPath(call, deployment);
	await call('POST', `${conversation}/takeover`);
	await chat.ask('Is anybody there?');
	await chat.notice.getByText('A person will answer here.').waitFor();
	await chat.live.getByText('A person will answer here.').waitFor({ state: 'attached' });
	await call('POST', `${conversation}/messages`, { content: 'Yes.', name: 'Maria' });
	await chat.says('Yes.');
	await chat.notice.waitFor({ state: 'detached' });
	assert.equal(await chat.panel.locator('#status').textContent(), 'Maria is replying');
});

test('downloads the whole conversation as text, earlier messages included', { skip }, async () => {
	const deployment = await shop.deploy({ rate_limit: { messages_per_minute: 600 } });
	const { call, callAsVisitor } = shop.app;
	let conversation: string | undefined;
	for (let sent = 1; sent <= 30; sent++) {
		const body = {
			deployment_id: deployment,
			content: `Question ${sent}?`,
			...(conversation && { conversation_id: conversation }),
		};
		const answer = await callAsVisitor('POST', '/api/v1/widget/messages', body, {
			origin: new URL(shop.site.url()).origin,
		});
		conversation = answer.body.conversation_id;
	}
	await call('POST', `/api/v1/conversations/${conversation}/takeover`);
	await call('POST', `/api/v1/conversations/${conversation}/messages`, { content: 'It is **so**.', name: 'Maria' });
	await using visitor = await shop.stay(deployment, {
		before: ({ page }) =>
			page.addInitScript(
				`localStorage.setItem('parley:${deployment}', ${JSON.stringify(JSON.stringify({ conversation }))})`,
			),
	});
	const { chat, page } = visitor;
	await chat.open();
	await chat.says('It is so.');
	await chat.control('More').click();
	const coming = page.waitForEvent('download');
	await chat.control('Download conversation').click();
	const download = await coming;
	assert.equal(download.suggestedFilename(), 'Chat.txt');
	const text = await readFile((await download.path()) as string, 'utf8');
	const said = text.split('\n').filter((line) => line && !/\(.*\):$/.test(line));
	assert.equal(said.length, 61);
	assert.deepEqual([said[0], said[1], said[60]], ['Question 1?', 'Hello.', 'It is so.']);
	assert.match(text, /^You \(.+\):\nQuestion 1\?\n\nAssistant \(.+\):\nHello\.\n/);
	assert.match(text, /\nMaria \(.+\):\nIt is so\.\n$/);
});
