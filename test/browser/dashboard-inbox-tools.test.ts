import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';
import { TOKENS, tokenFor } from './tokens.ts';

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

test('the address that a visitor has left stands apart from the address in the token', { skip }, async () => {
	const features = { ...TOKENS.features, handoff: true };
	const shop = await createApiFixture(app, { model: 'scripted/any', deployment: { features, jwt: TOKENS.jwt } });
	const authorization = `Bearer ${tokenFor('ada', 600, { email: 'ada@work.example' })}`;
	const as = (path: string, body: object) =>
		app.callAsVisitor('POST', path, { deployment_id: shop.deployment, ...body }, { authorization });
	const sent = await as('/api/v1/widget/messages', { content: 'When do you open?' });
	const id = sent.body.conversation_id;
	const asked = await as(`/api/v1/widget/conversations/${id}/request-person`, { email: 'ada@home.example' });
	assert.equal(asked.status, 200, JSON.stringify(asked.body));
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, `#/inbox/${id}?details=1`);
	const fact = (name: string) => agent.page.locator('.facts > div').filter({ hasText: name }).locator('dd');
	assert.equal(await fact('Answer to').textContent(), 'ada@home.example');
	assert.equal(await fact('E-mail address').textContent(), 'ada@work.example');
});
