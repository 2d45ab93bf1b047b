import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addUser } from '../access/people.ts';
import { createApiFixture } from '../api/fixture.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());
const { assistant, deployment } = await createApiFixture(app, { texts: ['The kettle is blue.'] });
const asked = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Is the kettle blue?' });
const conversation: string = asked.body.conversation_id;
const { status } = await app.call('POST', `/api/v1/conversations/${conversation}/notes`, { content: 'A note.' });
assert.equal(status, 201);

/** Buttons that change something, by page. */
const CHANGES: readonly (readonly [hash: string, shown: string, names: readonly string[]])[] = [
	['#/assistants', 'Guide', ['New assistant']],
	[`#/assistants/${assistant}`, 'Instructions', ['Save', 'Archive']],
	['#/deployments', 'shop.example', ['New deployment']],
	[`#/deployments/${deployment}`, 'Greeting', ['Save', 'Archive']],
	[`#/deployments/${deployment}?tab=tokens`, 'Signed-in visitors', ['Save', 'Archive']],
];
const CONVERSATION = `#/inbox/${conversation}?details=1`;
const CONVERSATION_CHANGES = ['Take over', 'Archive', 'Add note', 'Delete note', 'Erase conversation'];

async function shownButtons(role: 'agent' | 'viewer', hash: string, shown: string, names: readonly string[]) {
	await using browser = await startBrowser();
	await using visitor = await openDashboard(app, browser, {}, hash, `${role}@example.com`);
	const { page } = visitor;
	await page.getByText(shown).first().waitFor();
	// Several parts of a page may load at once.
	await until('everything is loaded', async () => (await page.getByRole('main').getByText('Loading').count()) === 0);
	const counts = names.map((name) => page.getByRole('button', { name, exact: true }).count());
	const present = (await Promise.all(counts)).flatMap((count, at) => (count > 0 ? [names[at]] : []));
	assert.equal(await page.getByText('This could not be loaded').count(), 0, `${role} ${hash}`);
	assert.deepEqual(visitor.problems, [], `${role} ${hash}`);
	return present;
}

test('a viewer and an agent are offered no change that the server refuses', { skip }, async () => {
	for (const role of ['viewer', 'agent'] as const) {
		await addUser(app, `${role}@example.com`, role);
		for (const [hash, shown, names] of CHANGES) {
			assert.deepEqual(await shownButtons(role, hash, shown, names), [], `${role} ${hash}`);
		}
	}
	assert.deepEqual(await shownButtons('viewer', CONVERSATION, 'A note.', CONVERSATION_CHANGES), []);
	assert.deepEqual(await shownButtons('agent', CONVERSATION, 'A note.', CONVERSATION_CHANGES), CONVERSATION_CHANGES);
});
