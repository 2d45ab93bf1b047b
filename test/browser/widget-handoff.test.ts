import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openShop, type Shop } from './shop.ts';

const skip = noBrowser;
let shop: Shop;

before(async () => {
	if (!skip) shop = await openShop();
});
after(() => shop?.[Symbol.asyncDispose]());

const conversationOf = async (deployment: string) =>
	(await shop.app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body.data[0];

test('a visitor asks for a person in the menu, and talks to the person who takes over', { skip }, async () => {
	const deployment = await shop.deploy({ features: { handoff: true } });
	await using visitor = await shop.visit(deployment);
	const { chat, page } = visitor;
	await chat.open();
	await chat.control('More').click();
	await chat.control('Talk to a person').click();
	await chat.says('I have asked a person to join this conversation');
	const { id, requested_person_at } = await conversationOf(deployment);
	assert.equal(typeof requested_person_at, 'string');
	assert.equal(await chat.control('Talk to a person').count(), 0, 'it is not offered again below the reply');
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/asked.png` });
	await shop.app.call('POST', `/api/v1/conversations/${id}/takeover`);
	await shop.app.call('POST', `/api/v1/conversations/${id}/messages`, { content: 'This is Anna.', name: 'Anna' });
	await chat.says('This is Anna.');
	await until('the header names the person', async () => {
		return (await chat.panel.locator('#status').textContent())?.trim() === 'Anna is replying';
	});
	assert.equal((await conversationOf(deployment)).requested_person_at, null);
	assert.deepEqual(visitor.problems, []);
});

test('an answer without a source offers a person, in the language of the visitor', { skip }, async () => {
	const deployment = await shop.deploy({ features: { handoff: true } });
	shop.model.enqueue([{ say: 'Das weiß ich nicht.' }]);
	await using visitor = await shop.visit(deployment, { attributes: 'data-language="de"' });
	const { chat, page } = visitor;
	await chat.open();
	await chat.ask('Gibt es Tee?');
	await chat.says('Das weiß ich nicht.');
	const button = chat.control('Mit einem Menschen sprechen');
	await button.waitFor();
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/offered.png` });
	await button.click();
	await chat.person.getByText('Im Moment ist niemand da.').waitFor();
	assert.equal(typeof (await conversationOf(deployment)).requested_person_at, 'string');
});

test('where the feature is off, nothing offers a person', { skip }, async () => {
	const deployment = await shop.deploy();
	shop.model.enqueue([{ say: 'I do not know.' }]);
	await using visitor = await shop.visit(deployment);
	const { chat } = visitor;
	await chat.open();
	await chat.ask('Is there tea?');
	await chat.says('I do not know.');
	await chat.control('More').click();
	assert.equal(await chat.control('Talk to a person').count(), 0);
});
