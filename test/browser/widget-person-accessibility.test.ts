import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { addUser, openCookieClient, PASSWORD } from '../access/people.ts';
import { noBrowser as skip } from '../support/browser.ts';
import { lookAtBoth, PICTURES } from './chat-looks.ts';
import { conversationPath, openShop, type Shop } from './shop.ts';

const AGENT = 'anna@shop.example';

let shop: Shop;

before(async () => {
	if (skip) return;
	await mkdir(PICTURES, { recursive: true });
	shop = await openShop();
	await addUser(shop.app, AGENT, 'agent');
});
after(() => shop?.[Symbol.asyncDispose]());

/** A person of the workspace opens the dashboard: its stream of events is open until the signal aborts. */
async function openDashboardOf(email: string, signal: AbortSignal): Promise<void> {
	const client = openCookieClient(shop.app);
	assert.equal((await client.call('POST', '/api/v1/session', { email, password: PASSWORD })).status, 201);
	const headers = { cookie: `parley_session=${client.cookie}` };
	const { status } = await fetch(`${shop.app.url}/api/v1/events?stream=true`, { headers, signal });
	assert.equal(status, 200);
}

test('axe finds nothing wrong with the way to a person in any state, in light and dark', { skip }, async () => {
	const deployment = await shop.deploy({ features: { handoff: true } });
	await using visitor = await shop.visit(deployment, { attributes: 'data-theme="auto"' });
	const { chat, page } = visitor;
	const { call } = shop.app;
	await chat.open();
	await chat.askAndWait('How long is the warranty?');
	const offer = chat.panel.locator('.suggestions').getByRole('button', { name: 'Talk to a person' });
	await offer.waitFor();
	await lookAtBoth(page, 'person-offered');

	await offer.click();
	await chat.person.getByText('No one is here right now.').waitFor();
	await lookAtBoth(page, 'person-away');
	const email = chat.person.getByLabel('Get the answer by e-mail, too');
	await email.fill('ada');
	await email.press('Enter');
	await chat.person.getByText('Please check the e-mail address.').waitFor();
	await lookAtBoth(page, 'person-invalid-email');
	await email.fill('ada@example.com');
	await email.press('Enter');
	await chat.person.getByText('We will also answer to ada@example.com.').waitFor();
	await lookAtBoth(page, 'person-saved-email');

	const dashboard = new AbortController();
	await openDashboardOf(AGENT, dashboard.signal);
	await chat.person.getByText('A person will answer here soon.').waitFor();
	await lookAtBoth(page, 'person-here');

	const conversation = await conversationPath(call, deployment);
	await call('POST', `${conversation}/takeover`);
	await chat.notice.getByText('A person has joined the conversation.').waitFor();
	await lookAtBoth(page, 'person-joined');
	await call('POST', `${conversation}/presence`, { state: 'typing' });
	await chat.notice.getByText('is typing').waitFor();
	await lookAtBoth(page, 'person-typing');
	dashboard.abort();
	assert.deepEqual(visitor.problems, []);
});
