import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';

const model = new ManualModel({ autoReply: () => ['We open at nine.'] });
const app = await startOwnedApp({}, { providers: [model.provider] });
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, { model: 'scripted/any' });

test('an agent writes a note, inserts a canned reply and a suggestion, and sees that another person types', {
	skip,
}, async () => {
	await app.call('POST', '/api/v1/canned-replies', { shortcut: 'hours', content: 'We are open from nine to six.' });
	const sent = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'When do you open?' });
	const id = sent.body.conversation_id;
	await using browser = await startBrowser();
	const options = { colorScheme: 'dark', bypassCSP: true } as const;
	await using agent = await openDashboard(app, browser, options, `#/inbox/${id}?details=1`);
	const { page } = agent;
	await page.getByLabel('New note').fill('She has called twice.');
	await page.getByRole('button', { name: 'Add note' }).click();
	await page.locator('.note-text').getByText('She has called twice.').waitFor();
	await page.getByRole('button', { name: 'Take over' }).click();
	const field = page.getByRole('textbox', { name: 'Write to the visitor' });
	await field.fill('/ho');
	await page.getByRole('button', { name: '/hours' }).click();
	assert.equal(await field.inputValue(), 'We are open from nine to six.');
	await page.getByRole('button', { name: 'Suggest a reply' }).click();
	await page.getByText('The suggestion is in the field.').waitFor();
	assert.equal(await field.inputValue(), 'We open at nine.');
	await app.call('POST', `/api/v1/conversations/${id}/presence`, { state: 'typing' });
	await page.getByText('First key: typing …').waitFor();
	await app.call('POST', `/api/v1/conversations/${id}/notes`, { content: 'Another note.' });
	await page.locator('.note-text').getByText('Another note.').waitFor();
	assert.deepEqual(await axeFindings(page), []);
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/inbox-tools.png` });
});
