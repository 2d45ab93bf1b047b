import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { addDocuments, type ChatOnPage, openShop, type Shop } from './shop.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

const HANDOFF = { features: { handoff: true } };
const conversationOf = async (deployment: string) =>
	(await shop.app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body.data[0];
const shoot = async (page: Page, name: string) => {
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/person-${name}.png` });
};
const isFocused = (chat: ChatOnPage, selector: string): Promise<unknown> =>
	chat.of(selector, 'element.getRootNode().activeElement === element');

/** Begins a conversation and asks for a person in the menu. */
async function askForPerson(chat: ChatOnPage): Promise<void> {
	await chat.open();
	await chat.askAndWait('How long is the warranty?');
	await chat.requestPerson();
	await chat.person.waitFor();
}

test('the bar offers to leave an e-mail address, survives a reload, and goes with the request', { skip }, async () => {
	const deployment = await shop.deploy(HANDOFF);
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await askForPerson(chat);
	await chat.person.getByText('No one is here right now.').waitFor();
	await chat.live.getByText('No one is here right now.').waitFor({ state: 'attached' });
	assert.equal(await chat.messages.count(), 3, 'the button sends no message where there is a conversation');
	assert.equal(await isFocused(chat, 'textarea'), true);
	assert.equal(typeof (await conversationOf(deployment)).requested_person_at, 'string');
	await chat.control('More').click();
	assert.equal(await chat.control('Talk to a person').count(), 0, 'it is not offered while the visitor waits');
	await chat.control('More').click();
	await shoot(page, 'asked');

	const email = chat.person.getByLabel('Get the answer by e-mail, too');
	await email.fill('ada');
	await email.press('Enter');
	await chat.person.getByText('Please check the e-mail address.').waitFor();
	assert.deepEqual([await email.getAttribute('aria-invalid'), await isFocused(chat, '.request input')], ['true', true]);
	await shoot(page, 'invalid');
	await email.fill('ada@example.com');
	await chat.control('Save').click();
	await chat.person.getByText('We will also answer to ada@example.com.').waitFor();
	await chat.live.getByText('We will also answer to ada@example.com.').waitFor({ state: 'attached' });
	assert.equal((await conversationOf(deployment)).contact_email, 'ada@example.com');
	await shoot(page, 'saved');

	await page.reload();
	await chat.person.getByText('We will also answer by e-mail.').waitFor();
	await chat.control('Change').click();
	await email.waitFor();
	await until('the focus is in the field', async () => (await isFocused(chat, '.request input')) === true);
	await email.fill('grace@example.com');
	await email.press('Enter');
	await chat.person.getByText('We will also answer to grace@example.com.').waitFor();

	await chat.control('Cancel request').click();
	await chat.person.waitFor({ state: 'detached' });
	await chat.live.getByText('Your request is cancelled.').waitFor({ state: 'attached' });
	const { requested_person_at, contact_email } = await conversationOf(deployment);
	assert.deepEqual([requested_person_at, contact_email], [null, null]);
	assert.equal(await isFocused(chat, 'textarea'), true);
	await page.reload();
	await chat.says('Hello.');
	assert.equal(await chat.person.count(), 0);
	assert.deepEqual(visitor.problems, []);
});

test('a request in words shows the bar, and a takeover replaces it: the visitor sees the person type', {
	skip,
}, async () => {
	const deployment = await shop.deploy(HANDOFF);
	const { call } = shop.app;
	await using visitor = await shop.visit(deployment, { attributes: 'data-language="de"' });
	const { chat, page } = visitor;
	await chat.open();
	await chat.ask('Kann ich mit einem Menschen sprechen?');
	await chat.person.getByText('Im Moment ist niemand da.').waitFor();
	await chat.ask('ada@example.com');
	await chat.person.getByText('Wir antworten auch per E-Mail.').waitFor();
	const { id } = await conversationOf(deployment);
	await call('POST', `/api/v1/conversations/${id}/takeover`);
	await chat.person.waitFor({ state: 'detached' });
	await chat.notice.getByText('Ein Mensch ist der Unterhaltung beigetreten.').waitFor();
	await chat.live.getByText('Ein Mensch ist der Unterhaltung beigetreten.').waitFor({ state: 'attached' });
	await call('POST', `/api/v1/conversations/${id}/presence`, { state: 'typing' });
	await chat.notice.getByText('schreibt …').waitFor();
	await shoot(page, 'typing');
	await call('POST', `/api/v1/conversations/${id}/messages`, { content: 'Hier ist Anna.', name: 'Anna' });
	await chat.says('Hier ist Anna.');
	await chat.notice.waitFor({ state: 'detached' });
	assert.deepEqual(visitor.problems, []);
});

test('where streaming is off the bar comes with the history', { skip }, async () => {
	const deployment = await shop.deploy({ features: { handoff: true, streaming: false } });
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await askForPerson(chat);
	await page.reload();
	await chat.person.getByText('No one is here right now.').waitFor();
});

test('a visitor who waits gets the answer on the next page although the chat is closed', { skip }, async () => {
	const deployment = await shop.deploy(HANDOFF);
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await askForPerson(chat);
	await chat.control('Close chat').click();
	// What is in the history that the page loads first is no news. The page opens the stream before it loads the history.
	const history = page.waitForResponse((response) => response.url().includes('/messages?'));
	await page.reload();
	await history;
	const { id } = await conversationOf(deployment);
	await shop.app.call('POST', `/api/v1/conversations/${id}/takeover`);
	await shop.app.call('POST', `/api/v1/conversations/${id}/messages`, { content: 'This is Anna.', name: 'Anna' });
	await chat.host.locator('.badge').getByText('1').waitFor();
	assert.equal(await chat.panel.isVisible(), false);
});

test('a file of the bar that cannot be loaded breaks nothing, and the next state loads it', { skip }, async () => {
	const deployment = await shop.deploy(HANDOFF);
	let isDown = true;
	let requests = 0;
	await using visitor = await shop.stay(deployment, {
		before: ({ context }) =>
			context.route('**/widget/person-*', (route) => {
				requests++;
				return isDown ? route.abort() : route.continue();
			}),
	});
	const { chat } = visitor;
	await chat.open();
	await chat.askAndWait('How long is the warranty?');
	assert.equal(requests, 0, 'it is loaded only for visitors who ask for a person');
	await chat.requestPerson();
	await until('the file is requested', () => requests > 0);
	await chat.askAndWait('And now?');
	isDown = false;
	await chat.askAndWait('And then?');
	await chat.person.waitFor();
});

test('a request that fails says so, and can be repeated', { skip }, async () => {
	const deployment = await shop.deploy(HANDOFF);
	let isDown = true;
	await using visitor = await shop.stay(deployment, {
		before: ({ context }) => context.route('**/request-person', (route) => (isDown ? route.abort() : route.continue())),
	});
	const { chat } = visitor;
	await chat.open();
	await chat.askAndWait('How long is the warranty?');
	await chat.requestPerson();
	await chat.notice.getByText('That did not work. Please try again.').waitFor();
	assert.equal(await chat.person.count(), 0);
	isDown = false;
	await chat.requestPerson();
	await chat.person.waitFor();
});

test('an answer that the visitor has rated down offers a person', { skip }, async () => {
	const deployment = await shop.deploy(HANDOFF, { model: 'builtin/extractive' });
	await addDocuments(shop.app.call, deployment);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.askAndWait('How long is the warranty of a kettle?', 'three years');
	await chat.panel.locator('.chip').first().waitFor();
	assert.equal(await chat.control('Talk to a person').count(), 0);
	await chat.control('Not helpful').click();
	await chat.control('Talk to a person').waitFor();
});

test('the bar fits a narrow window and a phone, in dark and from right to left', { skip }, async () => {
	const looks = {
		phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
		narrow: { viewport: { width: 320, height: 640 } },
		dark: { viewport: { width: 1024, height: 768 }, colorScheme: 'dark' },
		rtl: { viewport: { width: 1024, height: 768 } },
	} as const;
	for (const [name, context] of Object.entries(looks)) {
		const deployment = await shop.deploy({ ...HANDOFF, appearance: { theme: 'auto' } });
		const language = name === 'rtl' ? 'ar' : name === 'narrow' ? 'fr' : 'en';
		await using visitor = await shop.stay(deployment, { context, attributes: `data-language="${language}"` });
		const { chat, page } = visitor;
		await chat.open();
		await chat.ask('How long is the warranty?');
		await chat.says('Hello.');
		await chat.panel.locator('.suggestions button').click();
		await chat.person.waitFor();
		await chat.person.locator('input').fill('ada');
		await chat.person.locator('[type=submit]').click();
		await chat.person.locator('.invalid').waitFor();
		await shoot(page, name);
		const overflow = await chat.of('.request', 'element.scrollWidth - element.clientWidth');
		assert.equal(overflow, 0, name);
		await chat.person.locator('input').fill('ada.lovelace.of.the.analytical.engine@example-company.com');
		await chat.person.locator('[type=submit]').click();
		await chat.person.getByText('ada.lovelace').waitFor();
		await shoot(page, `${name}-saved`);
		assert.equal(await chat.of('.request', 'element.scrollWidth - element.clientWidth'), 0, name);
	}
});
