import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiFixture, createResource } from '../api/fixture.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';

/** Text that runs where it is taken for markup. */
const HOSTILE = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

test('no text of visitors, documents or settings runs on any page', { skip }, async () => {
	const { deployment, assistant } = await createApiFixture(app, { deployment: { name: HOSTILE } });
	await app.call('PATCH', `/api/v1/assistants/${assistant}`, { name: HOSTILE, description: HOSTILE });
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: HOSTILE, description: HOSTILE });
	const document = await createResource(app, `/api/v1/knowledge-bases/${base}/documents`, {
		source_type: 'text',
		title: HOSTILE,
		content: `# ${HOSTILE}\n\nThe lamp ${HOSTILE} is made of brass.`,
	});
	await app.call('POST', `/api/v1/assistants/${assistant}/knowledge-bases`, { knowledge_base_id: base });
	await createResource(app, '/api/v1/canned-replies', { shortcut: 'hello', content: HOSTILE });
	await createResource(app, '/api/v1/tools', {
		name: 'lookup',
		description: HOSTILE,
		type: 'api',
		config: { method: 'GET', url: 'https://example.com/' },
	});
	const { body: sent } = await app.call('POST', '/api/v1/messages', {
		deployment_id: deployment,
		content: `What is the lamp made of? ${HOSTILE}`,
		metadata: { plan: HOSTILE },
	});
	const conversation: string = sent.conversation_id;
	assert.ok(conversation, JSON.stringify(sent));
	await app.call('POST', `/api/v1/conversations/${conversation}/notes`, { content: HOSTILE });
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser);
	const { page } = agent;
	const pages = [
		...['inbox', 'assistants', 'knowledge', 'deployments', 'tools', 'overview', 'canned-replies', 'audit-log'],
		...[`inbox/${conversation}?details=1`, `assistants/${assistant}`, `deployments/${deployment}`],
		...[`knowledge/${base}`, `knowledge/${base}/${document}`],
	];
	for (const path of pages) {
		await page.goto(`${app.url}/dashboard#/${path}`);
		await page.locator('h1').first().waitFor();
		await page.locator('.loading-lines').first().waitFor({ state: 'detached' });
		const found = await page.evaluate(
			`({ ran: globalThis.ran, images: document.querySelectorAll('img[src="x"]').length })`,
		);
		assert.deepEqual(found, { ran: undefined, images: 0 }, path);
	}
	await page.goto(`${app.url}/dashboard#/inbox/${conversation}`);
	await page.locator('.inbox-log').getByText('<img src=x').first().waitFor();
	assert.deepEqual(agent.problems, []);
});
