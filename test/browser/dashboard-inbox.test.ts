import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';

/** Replies to questions that end with "wait" are written by the test, others at once. */
const model = new ManualModel({
	autoReply: ({ question }) => (question.endsWith('wait') ? undefined : ['We ', 'open at nine.']),
});
const app = await startOwnedApp({}, { providers: [model.provider] });
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, { model: 'scripted/any', deployment: { name: 'Shop' } });

/** A conversation that begins with this message. */
async function ask(content: string, more: object = {}): Promise<string> {
	const sent = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, ...more });
	assert.equal(sent.status, 201, JSON.stringify(sent.body));
	return sent.body.conversation_id;
}

test('unread conversations come first, and the keys open, search and archive', { skip }, async () => {
	const older = await ask('About the blue kettle');
	await ask('About the green teapot');
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, '#/inbox');
	const { page } = agent;
	const entry = (text: string) => page.getByRole('link', { name: text });
	await entry('About the green teapot').getByText('2 unread messages').waitFor();
	await page.keyboard.press('j');
	await page.getByRole('heading', { level: 1, name: 'About the green teapot' }).waitFor();
	await entry('About the green teapot').getByText('unread').waitFor({ state: 'detached' });
	await page.keyboard.press('j');
	await page.getByRole('heading', { level: 1, name: 'About the blue kettle' }).waitFor();
	await entry('About the blue kettle').getByText('unread').waitFor({ state: 'detached' });
	await page.keyboard.press('k');
	await page.getByRole('heading', { level: 1, name: 'About the green teapot' }).waitFor();
	await page.keyboard.press('/');
	await page.keyboard.type('blue');
	await entry('About the green teapot').waitFor({ state: 'detached' });
	await entry('About the blue kettle').waitFor();
	await page.keyboard.press('Escape');
	await entry('About the green teapot').waitFor();
	assert.equal(await page.getByRole('searchbox').inputValue(), '');
	await page.keyboard.press('j');
	await page.getByRole('heading', { level: 1, name: 'About the blue kettle' }).waitFor();
	await page.keyboard.press('r');
	// Without the focus Escape would leave the conversation.
	await page.locator('#inbox-reply:focus').waitFor();
	assert.equal((await app.call('GET', `/api/v1/conversations/${older}`)).body.handled_by, 'human');
	await page.keyboard.press('Escape');
	await page.keyboard.press('?');
	await page.getByRole('dialog').getByText('Next conversation').waitFor();
	await page.keyboard.press('Escape');
	await page.keyboard.press('e');
	await page.getByText('The conversation was archived.').waitFor();
	assert.equal((await app.call('GET', `/api/v1/conversations/${older}`)).body.status, 'archived');
});

test('a field that a key has chosen keeps the focus although another conversation was just opened', {
	skip,
}, async () => {
	await ask('About the red pan');
	await ask('About the grey spoon');
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, '#/inbox');
	const { page } = agent;
	const title = (name: string) => page.getByRole('heading', { level: 1, name });
	await page.getByRole('link', { name: 'About the red pan' }).click();
	await title('About the red pan').waitFor();
	await page.getByRole('link', { name: 'About the grey spoon' }).click();
	await title('About the grey spoon').and(page.locator(':focus')).waitFor();
	// The first conversation is still in the memory of the page, so its title is shown at once. The key comes with the next task.
	const focused = await page.evaluate(`new Promise((resolve) => {
		const observer = new MutationObserver(() => {
			if (document.querySelector('h1')?.textContent !== 'About the red pan') return;
			observer.disconnect();
			setTimeout(() => {
				resolve(document.activeElement.textContent);
				document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }));
			});
		});
		observer.observe(document.body, { childList: true, subtree: true, characterData: true });
		[...document.querySelectorAll('.inbox-entry')].find((link) => link.textContent.includes('About the red pan')).click();
	})`);
	assert.equal(focused, 'About the red pan');
	// A later effect of the new page would run within this time.
	await page.waitForTimeout(500);
	assert.equal(await page.evaluate('document.activeElement.id'), 'inbox-search');
});

test('the list changes by itself, an assignee is chosen, and an erasure says what is lost', { skip }, async () => {
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, '#/inbox');
	const { page } = agent;
	await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
	const id = await ask('A brand new question');
	await page.getByRole('link', { name: 'A brand new question' }).click();
	await page.getByLabel('Assignee').selectOption({ index: 1 });
	await page.getByText(/takes care of this conversation/).waitFor();
	await page.getByRole('button', { name: 'Mine' }).click();
	await page.getByRole('link', { name: 'A brand new question' }).waitFor();
	await page.getByRole('button', { name: 'Erase conversation' }).click();
	await page.getByRole('dialog').getByText('All 2 messages').waitFor();
	await page.getByRole('dialog').getByRole('button', { name: 'Erase conversation' }).click();
	await page.getByText('The conversation was erased.').waitFor();
	await page.getByRole('link', { name: 'A brand new question' }).waitFor({ state: 'detached' });
	assert.equal((await app.call('GET', `/api/v1/conversations/${id}`)).status, 404);
	await page.getByRole('button', { name: 'Remove all filters' }).waitFor();
});

test('a list that cannot be loaded says so, and a retry loads it', { skip }, async () => {
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, '#/assistants');
	const { page } = agent;
	await page.getByRole('heading', { level: 1, name: 'Assistants' }).waitFor();
	let isDown = true;
	await page.route('**/api/v1/inbox?*', (route) => (isDown ? route.abort('connectionreset') : route.continue()));
	await page.goto(`${app.url}/dashboard#/inbox`);
	await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
	isDown = false;
	const retry = page.getByRole('button', { name: 'Try again' });
	const list = page.getByRole('list', { name: 'Conversations' });
	// The browser itself may refuse a request, for example when the machine's network changes.
	for (let tries = 0; tries < 5 && !(await list.isVisible()); tries++) {
		await retry.click();
		await list.or(retry).waitFor();
	}
	await list.waitFor();
});

test('a conversation whose stream is refused for a while is followed again, with its messages in order', {
	skip,
}, async () => {
	const id = await ask('What of the brass lamp?');
	const send = (content: string) =>
		app.call('POST', '/api/v1/messages', { deployment_id: deployment, conversation_id: id, content });
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, '#/inbox');
	const { page } = agent;
	// As a proxy answers while the server behind it restarts.
	let refusals = 2;
	await page.route(`**/conversations/${id}/events`, (route) =>
		refusals-- > 0 ? route.fulfill({ status: 502, body: 'Bad gateway' }) : route.continue(),
	);
	await page.getByRole('link', { name: 'What of the brass lamp?' }).click();
	await page.getByText('We open at nine.').last().waitFor();
	await send('The second question');
	await page.locator('.inbox-log').getByText('The second question').waitFor();
	await page.locator('.inbox-connection').waitFor({ state: 'detached' });
	await send('The third question');
	await page.locator('.inbox-log').getByText('The third question').waitFor();
	const shown = (await page.locator('.inbox-log').textContent()) ?? '';
	const places = ['What of the brass lamp?', 'The second question', 'The third question'].map((text) =>
		shown.indexOf(text),
	);
	assert.deepEqual(
		places,
		places.toSorted((one, other) => one - other),
	);
	assert.ok(refusals <= 0);
});

test('the inbox can be left while its list loads', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/assistants');
	const { page } = owner;
	await page.getByRole('heading', { level: 1, name: 'Assistants' }).waitFor();
	// A list that is never answered.
	const requested = new Promise<void>((resolve) => {
		void page.route('**/api/v1/inbox?*', () => resolve());
	});
	await page.goto(`${app.url}/dashboard#/inbox`);
	await requested;
	await page.goto(`${app.url}/dashboard#/deployments`);
	await page.getByRole('heading', { level: 1, name: 'Deployments' }).waitFor();
	assert.equal(await page.evaluate('1 + 1'), 2);
});

test('axe finds nothing wrong in light and dark, in English and German, and a phone shows one column at a time', {
	skip,
}, async () => {
	const id = await ask('Donaudampfschifffahrtsgesellschaftskapitänsmütze im Angebot?');
	await app.call('POST', `/api/v1/conversations/${id}/takeover`);
	await ask('Bitte antworten', { conversation_id: id }).catch(() => {});
	await using browser = await startBrowser();
	for (const [colorScheme, locale, width] of [
		['light', 'en-GB', 1440],
		['dark', 'de-DE', 320],
	] as const) {
		const options = { colorScheme, locale, bypassCSP: true, viewport: { width, height: 640 } };
		await using agent = await openDashboard(app, browser, options);
		for (const hash of ['#/inbox', '#/inbox?search=nothing-like-it', `#/inbox/${id}`, `#/inbox/${id}?details=1`]) {
			await agent.page.goto(`${app.url}/dashboard${hash}`);
			await agent.page.locator('h1').first().waitFor({ state: 'attached' });
			await agent.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
			assert.deepEqual(await axeFindings(agent.page), [], `${hash} ${colorScheme}`);
			assert.equal(await overflowOf(agent.page), 0, `${hash} is wider than ${width} pixels`);
		}
		if (width > 400) continue;
		await agent.page.goto(`${app.url}/dashboard#/inbox/${id}`);
		await agent.page.getByRole('textbox', { name: 'Schreiben Sie dem Besucher' }).waitFor();
		await agent.page.getByRole('link', { name: 'Zurück zur Liste' }).click();
		await agent.page.getByRole('heading', { level: 1, name: 'Posteingang' }).waitFor();
	}
});
