import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deferred, withDeadline } from '../../src/base/index.ts';
import { embed, noBrowser as skip } from '../support/browser.ts';
import { startCuttableProxy } from '../support/cuttable-proxy.ts';
import { until } from '../support/until.ts';
import { ANNA, openDashboard, openStaffedShop } from './dashboard.ts';
import { type Shop, stored } from './shop.ts';

let shop: Shop;

before(async () => {
	if (!skip) shop = await openStaffedShop();
});
after(() => shop?.[Symbol.asyncDispose]());

const NOTE = 'She has called twice and is angry';

test('a visitor asks for a person; an agent takes over in mid-reply, notes, answers and gives the conversation back', {
	skip,
}, async () => {
	const { app, model, browser } = shop;
	const deployment = await shop.deploy({ features: { handoff: true } });
	// All that the visitor's browser gets from the server passes here.
	await using wire = await startCuttableProxy(Number(new URL(app.url).port));
	await using visitor = await shop.stay(deployment, { script: embed(wire.url, deployment) });
	const { chat } = visitor;
	const header = chat.panel.locator('#status');
	await chat.open();
	await chat.askAndWait('How long is the warranty?');

	// The visitor asks for a person while no one is there, and leaves an address.
	await chat.requestPerson();
	await chat.person.getByText('No one is here right now.').waitFor();
	await chat.person.getByLabel('Get the answer by e-mail, too').fill('ada@example.com');
	await chat.control('Save').click();
	await chat.person.getByText('We will also answer to ada@example.com.').waitFor();

	// The agent comes, which the visitor sees, and finds the request with the address.
	await using agent = await openDashboard(app, browser, {}, '#/inbox', ANNA);
	const { page } = agent;
	await chat.person.getByText('A person will answer here soon.').waitFor();
	await page.getByRole('button', { name: 'Waiting' }).click();
	const entry = page.getByRole('link', { name: /How long is the warranty\?/ });
	await entry.getByText(/^waits /).waitFor();
	await entry.click();
	const panel = page.getByRole('complementary', { name: 'Visitor' });
	await panel.getByText('ada@example.com').waitFor();
	const log = page.getByRole('log');

	// The agent takes over while the model writes: both pages keep what was written, and the model's stream ends.
	const rest = deferred<void>();
	model.enqueue([{ say: 'The heating element is ' }, { wait: rest.promise }, { say: 'covered for ever.' }]);
	const calls = model.calls.length;
	await chat.ask('And the heating element?');
	await chat.says('The heating element is');
	await log.getByText('The heating element is').waitFor();
	await page.getByRole('button', { name: 'Take over' }).click();
	const late = () => new Error('The request to the model goes on.');
	assert.equal(await withDeadline((await model.call(calls)).callerLeft, 120_000, late), true);
	rest.resolve();
	await log.getByText('Stopped').waitFor();
	await chat.person.waitFor({ state: 'detached' });
	await chat.notice.getByText('A person has joined the conversation.').waitFor();
	await panel.getByText('ada@example.com').waitFor();

	// A note is for the team alone.
	await page.getByRole('button', { name: 'Internal note' }).click();
	await page.getByRole('textbox', { name: /Write a note for your team/ }).fill(NOTE);
	await page.getByRole('button', { name: 'Add note' }).first().click();
	await page.locator('.note-text').getByText(NOTE).waitFor();

	await page.getByRole('button', { name: 'Reply', exact: true }).click();
	const field = page.getByRole('textbox', { name: 'Write to the visitor' });
	await field.pressSequentially('It has ten years.');
	await chat.notice.getByText('Anna is typing …').waitFor();
	await page.keyboard.press('Enter');
	await chat.says('It has ten years.');
	await until('the header names the agent', async () => (await header.textContent())?.trim() === 'Anna is replying');
	await chat.ask('Thank you, Anna!');
	await log.getByText('Thank you, Anna!').waitFor();
	assert.equal(model.calls.length, calls + 1, 'the model is not asked while a person answers');

	// The agent leaves the conversation to the assistant.
	await page.getByRole('button', { name: 'Give back' }).click();
	await page.getByText('The assistant answers again.').waitFor();
	await until('the header names no person', async () => (await header.textContent())?.trim() === 'AI assistant');
	await chat.askAndWait('Do you sell tea?');
	await log.getByText('Do you sell tea?').waitFor();
	assert.deepEqual(
		(await stored(app.call, deployment)).map(({ content, status }) => `${content.trim()} (${status})`),
		[
			'How long is the warranty? (completed)',
			'Hello. (completed)',
			'And the heating element? (completed)',
			'The heating element is (stopped)',
			'It has ten years. (completed)',
			'Thank you, Anna! (completed)',
			'Do you sell tea? (completed)',
			'Hello. (completed)',
		],
	);
	const ofVisitor = wire.received() + (await chat.panel.textContent());
	assert.ok(ofVisitor.includes('It has ten years.'), 'what the visitor’s browser gets is readable');
	assert.ok(!ofVisitor.includes(NOTE), 'visitors never get notes');
	assert.ok(!ofVisitor.includes('covered for ever'), 'no text of the model follows the takeover');
	assert.ok(!(await log.textContent())?.includes('covered for ever'));
	assert.ok(!JSON.stringify(model.calls.map(({ body }) => body)).includes(NOTE), 'the model does not get notes either');
	assert.deepEqual([agent.problems, agent.foreignRequests, visitor.problems], [[], [], []]);
});
