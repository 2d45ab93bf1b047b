import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createApiFixture, createResource, upload } from '../api/fixture.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';
import { outOfReach } from './reach.ts';

/** No word of a name has a place to break. */
const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenladen';

const app = await startOwnedApp({ allow_private_network: true });
after(() => app[Symbol.asyncDispose]());

interface State {
	hash: string;
	/** What is done on the page before it is looked at. */
	open?: (page: Page) => Promise<void>;
}

const pressMain = (page: Page) => page.locator('.page-header .button-primary').click();
const pressDanger = (page: Page) => page.locator('main .button-danger').first().click();
const states: State[] = [];

before(async () => {
	const shop = await createApiFixture(app, {
		texts: [`# ${LONG}\n\nThe Lumen kettle costs forty euros. ${LONG.repeat(3)}`],
		deployment: { name: LONG, features: { handoff: true } },
	});
	const rename = async (path: string) => {
		const { status, body } = await app.call('PATCH', path, { name: LONG });
		assert.equal(status, 200, JSON.stringify(body));
	};
	await rename(`/api/v1/assistants/${shop.assistant}`);
	await rename(`/api/v1/knowledge-bases/${shop.knowledgeBase}`);
	await rename('/api/v1/workspace');
	const base = `/api/v1/knowledge-bases/${shop.knowledgeBase}`;
	await upload(app, shop.knowledgeBase, `${LONG}.pdf`, { bytes: 'This is no PDF.' });
	const source = await createResource(app, `${base}/sources`, { type: 'url', url: `${app.url}/${LONG}` });
	const config = {
		method: 'GET',
		url: `https://api.example.com/${LONG}`,
		parameters: { type: 'object', properties: {} },
	};
	const tool = await createResource(app, '/api/v1/tools', { name: 'o'.repeat(64), type: 'api', config });
	const mcp = await createResource(app, '/api/v1/tools', {
		name: 'stock',
		type: 'mcp',
		config: { url: `${app.url}/${LONG}` },
	});
	const webhook = await createResource(app, '/api/v1/webhooks', {
		url: `${app.url}/${LONG}`,
		events: ['*'],
		description: LONG,
	});
	const reply = await createResource(app, '/api/v1/canned-replies', { shortcut: LONG.slice(0, 40), content: LONG });
	await createResource(app, '/api/v1/api-keys', { name: LONG });
	await createResource(app, '/api/v1/users', { email: `${LONG}@example.com`, name: LONG, role: 'viewer' });
	const message = { deployment_id: shop.deployment, content: `What does the Lumen kettle cost? ${LONG}` };
	const { body: answer } = await app.call('POST', '/api/v1/messages', message);
	await app.call('POST', '/api/v1/messages', { ...message, content: `Do you deliver to ${LONG}?` });
	await createResource(app, `/api/v1/conversations/${answer.conversation_id}/notes`, { content: LONG });
	const [document] = (await app.call('GET', `${base}/documents`)).body.data;
	const deliveries = `/api/v1/webhooks/${webhook}/deliveries`;
	const delivery = await until('there is a delivery', async () => (await app.call('GET', deliveries)).body.data[0]?.id);
	const { body: erasure } = await app.call('POST', '/api/v1/erasures', { end_user_id: 'customer-4711' });
	const [record] = (await app.call('GET', '/api/v1/audit-log')).body.data;
	const at = (page: string, ...tabs: string[]) => tabs.map((tab) => ({ hash: `#/${page}?tab=${tab}` }));
	states.push(
		{ hash: '#/start' },
		{ hash: '#/inbox' },
		{ hash: `#/inbox/${answer.conversation_id}` },
		{ hash: `#/inbox/${answer.conversation_id}?details=1` },
		{ hash: '#/assistants', open: pressMain },
		{ hash: `#/assistants/${shop.assistant}` },
		{ hash: '#/knowledge', open: pressMain },
		...at(`knowledge/${shop.knowledgeBase}`, 'documents', 'websites', 'search', 'settings'),
		{ hash: `#/knowledge/${shop.knowledgeBase}?tab=search&q=kettle` },
		{
			hash: `#/knowledge/${shop.knowledgeBase}?tab=websites`,
			open: (page) => page.locator('.tab-actions .button').first().click(),
		},
		{ hash: `#/knowledge/${shop.knowledgeBase}/documents/${document.id}` },
		{ hash: `#/knowledge/${shop.knowledgeBase}/websites/${source}` },
		{ hash: '#/deployments', open: pressMain },
		...at(`deployments/${shop.deployment}`, 'appearance', 'websites', 'settings', 'tokens'),
		{ hash: '#/tools' },
		{ hash: '#/tools/new' },
		{ hash: '#/tools/new?type=mcp' },
		{ hash: `#/tools/${tool}` },
		{ hash: `#/tools/${tool}`, open: pressDanger },
		{ hash: `#/tools/${mcp}` },
		{ hash: '#/webhooks' },
		{ hash: '#/webhooks/new' },
		...at(`webhooks/${webhook}`, 'deliveries', 'settings'),
		{ hash: `#/webhooks/${webhook}/${delivery}` },
		{ hash: '#/overview' },
		{ hash: '#/canned-replies' },
		{ hash: '#/canned-replies/new' },
		{ hash: `#/canned-replies/${reply}` },
		{ hash: '#/privacy' },
		{ hash: `#/privacy/${erasure.id}` },
		{ hash: '#/people', open: pressMain },
		{ hash: '#/api-keys', open: pressMain },
		{ hash: '#/workspace' },
		{ hash: '#/audit-log' },
		{ hash: `#/audit-log?record=${record.id}` },
		{ hash: '#/account' },
		{ hash: '#/nowhere' },
		{ hash: '#/inbox', open: (page) => page.keyboard.press('Control+k') },
	);
});

test('every page is among those that are looked at', async () => {
	const source = await readFile(new URL('../../src/dashboard/app/pages.tsx', import.meta.url), 'utf8');
	const names = [...source.matchAll(/\{ name: '([a-z-]+)'/g)].map(([, name]) => name);
	assert.ok(names.length > 10);
	const seen = new Set(states.map(({ hash }) => /[a-z-]+/.exec(hash)?.[0]));
	assert.deepEqual(
		names.filter((name) => !seen.has(name)),
		[],
	);
});

/** Resolves when nothing of a page is being loaded. */
async function settled(page: Page): Promise<void> {
	await page.locator('h1').first().waitFor({ state: 'attached' });
	await until('the page is loaded', () =>
		page.evaluate<boolean>(
			"new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(document.querySelector('.loading-lines, [role=listbox][aria-busy=true]') === null))))",
		),
	);
}

for (const [what, viewport, deviceScaleFactor] of [
	['at 320 pixels', { width: 320, height: 640 }, 1],
	['at 200 % zoom', { width: 640, height: 400 }, 2],
] as const) {
	for (const locale of ['en-GB', 'de-DE']) {
		test(`no page is wider than the window and every control is in reach ${what} (${locale})`, { skip }, async () => {
			await using browser = await startBrowser();
			await using owner = await openDashboard(app, browser, { locale, viewport, deviceScaleFactor });
			const { page } = owner;
			const wrong: string[] = [];
			for (const [at, { hash, open }] of states.entries()) {
				await page.goto(`${app.url}/dashboard#/nowhere`);
				await page.goto(`${app.url}/dashboard${hash}`);
				await settled(page);
				await open?.(page);
				await settled(page);
				const overflow = await overflowOf(page);
				const { seen, problems } = await outOfReach(page);
				assert.ok(seen > 0, hash);
				const shots = process.env.SHOTS;
				if (shots) await page.screenshot({ path: `${shots}/${viewport.width}-${locale}-${at}.png`, fullPage: true });
				if (overflow > 0) wrong.push(`${hash}: ${overflow} pixels too wide`);
				wrong.push(...problems.map((problem) => `${hash}: ${problem}`));
				await page.keyboard.press('Escape');
			}
			assert.deepEqual(wrong, []);
		});
	}
}
