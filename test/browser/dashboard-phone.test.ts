import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { PASSWORD } from '../access/people.ts';
import { noBrowser as skip } from '../support/browser.ts';
import { ANNA, openStaffedShop, overflowOf, smallTargets } from './dashboard.ts';
import { conversationPath, type Shop } from './shop.ts';

let shop: Shop;

before(async () => {
	if (!skip) shop = await openStaffedShop();
});
after(() => shop?.[Symbol.asyncDispose]());

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** Checks that a phone shows the page without sideways scrolling, and that a finger meets what can be pressed. */
async function checkStep(page: Page, step: string): Promise<void> {
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/phone-${step.replaceAll(' ', '-')}.png` });
	assert.equal(await overflowOf(page), 0, `${step}: the page is wider than the window`);
	assert.deepEqual(await smallTargets(page), [], step);
}

/** How far the first message about a change is above the field of a conversation, as soon as both are shown (px). */
const spaceBelowToast = (page: Page): Promise<number> =>
	page.evaluate(`new Promise((resolve) => {
		const measure = () => {
			const composer = document.querySelector('.composer-modes');
			resolve(composer.getBoundingClientRect().top - document.querySelector('.toast').getBoundingClientRect().bottom);
		};
		const look = () => {
			// Observers of sizes run before the second next frame.
			if (document.querySelector('.toast') && document.querySelector('.composer-modes textarea'))
				requestAnimationFrame(() => requestAnimationFrame(measure));
		};
		new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
	})`);

test('an agent with a phone finds who waits, takes over, sends a canned reply, gives back and returns to the list', {
	skip,
}, async () => {
	const { app, browser } = shop;
	const { call } = app;
	const canned = { shortcut: 'hours', content: 'We are open from nine to six.' };
	assert.equal((await call('POST', '/api/v1/canned-replies', canned)).status, 201);
	const deployment = await shop.deploy({ features: { handoff: true } });
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.askAndWait('When do you open?');
	await chat.requestPerson();
	await chat.person.waitFor();
	const conversation = await conversationPath(call, deployment);

	await using agent = await browser.visitor({ ...PHONE, locale: 'en-GB' });
	const { page } = agent;
	await page.goto(`${app.url}/dashboard`);
	await page.getByLabel('E-mail').fill(ANNA);
	await page.getByLabel('Password').fill(PASSWORD);
	await checkStep(page, 'sign in');
	await page.getByRole('button', { name: 'Sign in' }).tap();

	await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
	const entry = page.getByRole('link', { name: /When do you open\?/ });
	await entry.getByText(/^waits /).waitFor();
	await checkStep(page, 'list');
	await page.getByRole('button', { name: 'Waiting' }).tap();
	await page.getByRole('button', { name: 'Waiting', pressed: true }).waitFor();
	await entry.tap();

	const log = page.getByRole('log');
	await log.getByText('Hello.').waitFor();
	await checkStep(page, 'conversation');
	const space = spaceBelowToast(page);
	await page.getByRole('button', { name: 'Take over' }).tap();
	assert.ok((await space) >= 0, `${await space} px: the message hides what the agent uses next`);
	const field = page.getByRole('textbox', { name: 'Write to the visitor' });
	await field.tap();
	await checkStep(page, 'taken over');
	await field.pressSequentially('/ho');
	const choice = page.getByRole('button', { name: '/hours' });
	await choice.waitFor();
	await checkStep(page, 'canned replies');
	await choice.tap();
	assert.equal(await field.inputValue(), canned.content);
	await page.getByRole('button', { name: 'Send' }).tap();
	await log.getByText(canned.content).waitFor();
	await chat.says(canned.content);
	await checkStep(page, 'answered');
	await page.getByRole('button', { name: 'Details' }).tap();
	const panel = page.getByRole('complementary', { name: 'Visitor' });
	await panel.waitFor();
	await checkStep(page, 'details');
	await panel.getByRole('button', { name: 'Close' }).tap();

	await page.getByRole('button', { name: 'Give back' }).tap();
	await page.getByText('The assistant answers again.').waitFor();
	await checkStep(page, 'given back');
	await page.getByRole('link', { name: 'Back to the list' }).tap();
	await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
	await checkStep(page, 'list again');
	assert.equal((await call('GET', conversation)).body.handled_by, 'model');
	await chat.askAndWait('Do you sell tea?');
	assert.deepEqual([agent.problems, agent.foreignRequests], [[], []]);
});
