// Own process: it measures the time of frames.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Write } from '../../src/store/index.ts';
import { firstWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture } from '../api/fixture.ts';
import { conversation, message } from '../store/samples.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';

const CONVERSATIONS = 100_000;
const PER_COMMIT = 2_000;
const SCROLLS = 200;
/** A busy machine loads fewer pages in the same number of scrolls. */
const MAX_SCROLLS = 10 * SCROLLS;
const MIN_ROWS = 1_000;

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

/** Conversations with one message each, written through the store. */
async function fill(deployment: string): Promise<void> {
	await using store = await openStoreDirectly(app);
	const workspace_id = await firstWorkspace(store);
	const start = Date.now() - CONVERSATIONS * 1_000;
	for (let first = 0; first < CONVERSATIONS; first += PER_COMMIT) {
		const write = Array.from({ length: PER_COMMIT }, (_, at): Write[] => {
			const created_at = start + (first + at) * 1_000;
			const times = { workspace_id, created_at, updated_at: created_at, last_message_at: created_at };
			const record = conversation({
				...times,
				deployment_id: deployment,
				message_count: 1,
				title: `Order ${first + at}`,
			});
			const content = `Where is order ${first + at}?`;
			const sent = { workspace_id, conversation_id: record.id, content, created_at, completed_at: created_at };
			return [
				{ op: 'insert', kind: 'conversations', record },
				{ op: 'insert', kind: 'messages', record: message({ ...sent, role: 'user', status: 'completed' }) },
			];
		});
		await store.commit({ write: write.flat() });
	}
	await store.commit({ write: [{ op: 'inbox.rebuild' }] });
}

test('the inbox stays fast with a hundred thousand conversations', { skip }, async (t) => {
	const { deployment } = await createApiFixture(app);
	await fill(deployment);
	// A message wakes the projector.
	await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'The newest question' });
	const began = performance.now();
	await until(
		'the first order is in the inbox',
		async () => {
			const { body } = await app.call('GET', '/api/v1/inbox?limit=1&search=%22order%2099999%22');
			const oldest = await app.call('GET', '/api/v1/inbox?limit=1&search=%22order%200%22');
			return body.data.length === 1 && oldest.body.data.length === 1;
		},
		600_000,
	);
	t.diagnostic(`the inbox was filled after ${Math.round(performance.now() - began)} ms`);
	const times = [];
	for (const query of [
		'limit=100',
		'limit=100&unread=true',
		'limit=100&unread=false',
		'limit=100&search=order',
		'limit=1&search=order%204711',
	]) {
		const from = performance.now();
		assert.equal((await app.call('GET', `/api/v1/inbox?${query}`)).status, 200);
		times.push(`${query}: ${Math.round(performance.now() - from)} ms`);
	}
	t.diagnostic(times.join(', '));
	await using browser = await startBrowser();
	await using agent = await openDashboard(app, browser, {}, '#/inbox');
	const { page } = agent;
	await page.getByRole('link', { name: 'The newest question' }).waitFor();
	// The conversations that were read are loaded beside the unread ones.
	await page.getByRole('link', { name: 'Order 99999' }).waitFor();
	const { frames, rows, most } = (await page.evaluate(`(async () => {
		const scroller = document.querySelector('.inbox-scroller');
		const frames = [];
		const size = () => Number(document.querySelector('.positioned-rows > li').getAttribute('aria-setsize'));
		let most = 0;
		for (let at = 0; at < ${SCROLLS} || (size() <= ${MIN_ROWS} && at < ${MAX_SCROLLS}); at++) {
			const from = performance.now();
			scroller.scrollTop += 700;
			await new Promise(requestAnimationFrame);
			most = Math.max(most, document.querySelectorAll('.positioned-rows > li').length);
			await new Promise(requestAnimationFrame);
			frames.push((performance.now() - from) / 2);
		}
		return { frames, rows: size(), most };
	})()`)) as { frames: number[]; rows: number; most: number };
	const sorted = frames.toSorted((one, other) => one - other);
	const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] as number);
	t.diagnostic(
		`${frames.length} scrolls, ${rows} rows loaded: median frame ${at(0.5)} ms, p95 ${at(0.95)} ms, ${most} rows at most in the page`,
	);
	assert.ok(most < 60, `${most} rows are in the page`);
	assert.ok(rows > MIN_ROWS, `${rows} rows are loaded`);
	await page.locator('#inbox-search').fill('order 4711');
	await page.getByRole('link', { name: 'Order 4711' }).first().waitFor();
	assert.deepEqual(agent.problems, []);
});
