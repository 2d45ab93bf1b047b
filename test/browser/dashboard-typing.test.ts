import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openCookieClient, PASSWORD } from '../access/people.ts';
import { createApiFixture } from '../api/fixture.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openDashboard, signIn, startOwnedApp } from './dashboard.ts';

const model = new ManualModel({ autoReply: () => ['We open at nine.'] });
const app = await startOwnedApp({}, { providers: [model.provider] });
after(() => app[Symbol.asyncDispose]());
const { assistant, deployment, knowledgeBase } = await createApiFixture(app, { model: 'scripted/any' });

async function ask(content: string): Promise<string> {
	const { status, body } = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
	assert.equal(status, 201, JSON.stringify(body));
	return body.conversation_id;
}

/** Holds the requests of a method to a path until `release`: `isSent` says whether there is one. */
async function hold(page: Page, method: string, path: string): Promise<{ isSent: () => boolean; release: () => void }> {
	let isSent = false;
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	await page.route(`**${path}`, async (route) => {
		if (route.request().method() === method) {
			isSent = true;
			await released;
		}
		await route.continue();
	});
	return { isSent: () => isSent, release: () => release() };
}

/** Ends all sessions of the owner, as a new password does. */
async function endSessions(): Promise<void> {
	const other = openCookieClient(app);
	await other.call('POST', '/api/v1/session', { email: 'owner@localhost', password: PASSWORD });
	assert.equal((await other.call('DELETE', '/api/v1/sessions')).status, 200);
}

test('what is typed while a form is saved stays as an unsaved change', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/assistants/${assistant}`);
	const { page } = owner;
	const path = `/api/v1/assistants/${assistant}`;
	const request = await hold(page, 'PATCH', path);
	const field = page.getByLabel('Instructions');
	await field.fill('Be brief.');
	await page.getByRole('button', { name: 'Save' }).click();
	await until('the request is sent', async () => request.isSent());
	await field.pressSequentially(' Be kind.');
	request.release();
	await page.getByText('Saved.').waitFor();
	assert.equal(await field.inputValue(), 'Be brief. Be kind.');
	assert.equal((await app.call('GET', path)).body.master_prompt, 'Be brief.');
	await page.getByRole('button', { name: 'Save' }).click();
	await until(
		'the rest is saved',
		async () => (await app.call('GET', path)).body.master_prompt === 'Be brief. Be kind.',
	);
});

test('what is typed while a message is sent stays in the field', { skip }, async () => {
	const id = await ask('When do you open?');
	await app.call('POST', `/api/v1/conversations/${id}/takeover`);
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, `#/inbox/${id}`);
	const { page } = agent;
	const request = await hold(page, 'POST', `/api/v1/conversations/${id}/messages`);
	const field = page.getByRole('textbox', { name: 'Write to the visitor' });
	await field.fill('At nine.');
	await field.press('Enter');
	await until('the request is sent', async () => request.isSent());
	await field.pressSequentially(' On Sundays at ten.');
	request.release();
	await page.locator('.message').getByText('At nine.').last().waitFor();
	await until('the sent text leaves', async () => (await field.inputValue()) === 'On Sundays at ten.');
});

test('a note, an answer and a text that are not sent are there after the session has ended', { skip }, async () => {
	const id = await ask('Where are you?');
	await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Do you deliver to Norway?' });
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, `#/inbox/${id}?details=1`);
	const { page } = agent;
	const again = async () => {
		await endSessions();
		await page.getByRole('heading', { name: 'Sign in to Parley' }).waitFor();
		await signIn(page);
	};
	const note = page.getByLabel('New note');
	await note.fill('She has called twice.');
	await again();
	await note.waitFor();
	assert.equal(await note.inputValue(), 'She has called twice.');

	await page.goto(`${app.url}/dashboard#/knowledge/${knowledgeBase}`);
	const text = page.getByLabel('Text', { exact: true });
	await page.getByRole('button', { name: 'Add a text' }).click();
	await text.fill('The shop is open from ten to four.');
	await again();
	await page.getByRole('button', { name: 'Add a text' }).click();
	assert.equal(await text.inputValue(), 'The shop is open from ten to four.');
});

test('two presses at once create one thing', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/knowledge');
	const { page } = owner;
	await page.getByRole('button', { name: 'New knowledge base' }).first().click();
	await page.getByLabel('Name').fill('Pressed twice');
	await page.evaluate(`
		const button = document.querySelector('form button[type=submit]');
		button.click();
		button.click();
	`);
	await page.getByRole('heading', { name: 'Pressed twice' }).waitFor();
	const { data } = (await app.call('GET', '/api/v1/knowledge-bases?limit=100')).body;
	assert.equal(data.filter(({ name }: { name: string }) => name === 'Pressed twice').length, 1);
});
