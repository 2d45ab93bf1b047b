import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { newId } from '../../src/base/index.ts';
import type { DocumentRecord, Write } from '../../src/store/index.ts';
import { openCookieClient, PASSWORD } from '../access/people.ts';
import { firstWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import { createResource, SAMPLES, untilSettled, upload } from '../api/fixture.ts';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openDashboard, overflowOf, signIn, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

const BASES = '/api/v1/knowledge-bases';
const newBase = (name: string) => createResource(app, BASES, { name });
const addText = (base: string, title: string, content: string) =>
	createResource(app, `${BASES}/${base}/documents`, { source_type: 'text', title, content });

const files = (...texts: string[]) =>
	texts.map((text, at) => ({ name: `file-${at + 1}.txt`, mimeType: 'text/plain', buffer: Buffer.from(text) }));

/** The hidden field behind the button that adds files. */
const fileField = (page: Page) => page.locator('input[type=file]').first();
const uploads = (page: Page) => page.getByRole('region', { name: 'Uploads' });

test('a person creates a knowledge base, adds files and a text, and sees how the search finds them', {
	skip,
}, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/knowledge');
	const { page } = owner;
	await page.getByRole('button', { name: 'New knowledge base' }).first().click();
	await page.getByLabel('Name').fill('Kettle manuals');
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	await page.getByRole('heading', { name: 'Kettle manuals' }).waitFor();
	await fileField(page).setInputFiles(
		SAMPLES.map((name) => fileURLToPath(new URL(`../../data/samples/${name}`, import.meta.url))),
	);
	await uploads(page).getByText(`${SAMPLES.length} of ${SAMPLES.length} uploaded`).waitFor();
	await page.getByRole('button', { name: 'Add a text' }).click();
	await page.getByLabel('Title').fill('Opening hours');
	await page.getByLabel('Text', { exact: true }).fill('The shop is open from ten to four.');
	await page.getByRole('button', { name: 'Add', exact: true }).click();
	await page.getByRole('link', { name: 'Opening hours' }).waitFor();
	const list = page.getByRole('list', { name: 'Documents' });
	await list.getByText('Indexed', { exact: true }).nth(SAMPLES.length).waitFor();

	await page.getByRole('link', { name: 'Search', exact: true }).click();
	await page.getByLabel('Question').fill('How long is the warranty on the heating element?');
	await page.getByRole('button', { name: 'Search', exact: true }).click();
	const best = page.getByRole('listitem').filter({ hasText: 'In the reply' }).first();
	await best.getByText('Words').waitFor();
	await best.getByRole('link').click();
	await page
		.locator('[data-marked]')
		.getByText(/heating element/)
		.first()
		.waitFor();
	const marked = page.locator('.passage-list [data-marked]');
	const box = await marked.boundingBox();
	assert.ok(box && box.y < 900, 'it is scrolled to');
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('an upload whose connection breaks is sent again with its key, and is one document', { skip }, async () => {
	const id = await newBase('Broken line');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/knowledge/${id}`);
	const { page } = owner;
	const keys: Array<string | undefined> = [];
	await page.route(`**${BASES}/${id}/documents`, async (route) => {
		if (route.request().method() !== 'POST') return route.continue();
		keys.push(route.request().headers()['idempotency-key']);
		if (keys.length === 1) return route.abort('connectionreset');
		// The server has the file, but its response is lost.
		if (keys.length === 2) {
			await route.fetch();
			return route.abort('connectionreset');
		}
		return route.continue();
	});
	await fileField(page).setInputFiles(files('The kettle is made of steel.'));
	await uploads(page).getByText('1 of 1 uploaded').waitFor();
	assert.equal(keys.length, 3);
	assert.equal(new Set(keys).size, 1);
	assert.equal((await untilSettled(app, id)).documents_total, 1);
});

test('paused uploads wait, go on where they were, and can be cancelled', { skip }, async () => {
	const id = await newBase('Pauses');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/knowledge/${id}`);
	const { page } = owner;
	let isHeld = true;
	await page.route(`**${BASES}/${id}/documents`, (route) => {
		if (route.request().method() === 'POST' && isHeld) return;
		return route.continue();
	});
	await fileField(page).setInputFiles(files('One.', 'Two.', 'Three.', 'Four.', 'Five.'));
	await page.getByRole('button', { name: 'Pause' }).click();
	await page.getByRole('heading', { name: 'Paused' }).waitFor();
	await page.getByRole('button', { name: 'Leave out file-5.txt' }).click();
	isHeld = false;
	await page.getByRole('button', { name: 'Resume' }).click();
	await uploads(page).getByText('4 of 4 uploaded').waitFor();
	assert.equal((await untilSettled(app, id)).documents_total, 4);
	isHeld = true;
	await fileField(page).setInputFiles(files('Never sent.'));
	await page.getByRole('button', { name: 'Cancel the rest' }).click();
	await page.getByRole('button', { name: 'Clear the list' }).click();
	await uploads(page).waitFor({ state: 'detached' });
});

test('a file that cannot be read says what to do, and is removed after a question', { skip }, async () => {
	const id = await newBase('Failures');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/knowledge/${id}`);
	const { page } = owner;
	const picture = {
		name: 'photo.png',
		mimeType: 'image/png',
		buffer: Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01', 'latin1'),
	};
	const damaged = { name: 'damaged.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7\nnothing') };
	await fileField(page).setInputFiles([picture, damaged]);
	await uploads(page).getByText('This type of file cannot be read.').waitFor();
	const list = page.getByRole('list', { name: 'Documents' });
	await list.getByText('The file cannot be read').waitFor();
	await list.getByRole('button', { name: 'Read again: damaged.pdf' }).click();
	await page.getByText('damaged.pdf is read again.').waitFor();
	await untilSettled(app, id);
	await list.getByRole('link', { name: 'damaged.pdf' }).click();
	await page.getByText('The server’s message').waitFor();
	const download = page.waitForEvent('download');
	await page.getByRole('link', { name: 'Download' }).click();
	assert.equal((await download).suggestedFilename(), 'damaged.pdf');
	await page.getByRole('button', { name: 'Remove' }).click();
	await page.getByRole('dialog').getByText('damaged.pdf').waitFor();
	await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
	await page.getByRole('heading', { name: 'No document yet' }).waitFor();
	assert.equal((await app.call('GET', `${BASES}/${id}`)).body.document_count, 0);
});

/** Adds indexed documents without content directly to the database. */
async function fillWithDocuments(base: string, count: number): Promise<void> {
	await using store = await openStoreDirectly(app);
	const workspace_id = await firstWorkspace(store);
	const made = Date.now() - count * 1_000;
	const record = (at: number): DocumentRecord => ({
		id: newId('document'),
		version: 1,
		workspace_id,
		knowledge_base_id: base,
		title: `Document ${at + 1}`,
		source_type: 'text',
		url: null,
		file_name: null,
		content_type: 'text/plain',
		size_bytes: 100,
		blob: null,
		status: at % 1_000 === 0 ? 'error' : 'indexed',
		error: at % 1_000 === 0 ? { code: 'no_text', message: 'It has no text.' } : null,
		attempts: 0,
		chunk_count: 1,
		page_count: null,
		language: 'en',
		indexed_at: made,
		source_id: null,
		created_at: made + at * 1_000,
		updated_at: made,
	});
	for (let first = 0; first < count; first += 1_000) {
		const write = Array.from(
			{ length: 1_000 },
			(_, at): Write => ({ op: 'insert', kind: 'documents', record: record(first + at) }),
		);
		await store.commit({ write });
	}
	const set = { documents_total: count, documents_failed: count / 1_000 };
	await store.commit({ write: [{ op: 'patch', kind: 'knowledge_bases', id: base, set }] });
}

test('a list of 10,000 documents is scrolled to its end, and finds one of them by its name', { skip }, async () => {
	const id = await newBase('Large');
	await fillWithDocuments(id, 10_000);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, { bypassCSP: true }, `#/knowledge/${id}`);
	const { page } = owner;
	await page.getByText('10,000 documents').waitFor();
	await page.getByRole('link', { name: 'Document 10000', exact: true }).waitFor();
	const oldest = page.getByRole('link', { name: 'Document 1', exact: true });
	while ((await oldest.count()) === 0) {
		const height = await page.evaluate('document.documentElement.scrollHeight');
		await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
		const hasOldest = `[...document.querySelectorAll('.document-name a')].some((link) => link.textContent === 'Document 1')`;
		await page.waitForFunction(`document.documentElement.scrollHeight > ${height} || ${hasOldest}`);
	}
	assert.ok((await page.locator('.virtual-rows > li').count()) < 100, 'only the rows near the window are in the page');
	await page.getByLabel('Find by name').fill('document 4711');
	await page.getByRole('link', { name: 'Document 4711', exact: true }).waitFor();
	await page.getByLabel('Find by name').fill('');
	await page.getByLabel('Status').selectOption('error');
	await page.getByRole('link', { name: 'Document 9001', exact: true }).waitFor();
	assert.equal(await page.getByRole('list', { name: 'Documents' }).getByRole('listitem').count(), 10);
});

test('the search is tried with other settings, marks the passages of a reply, and its weight is saved', {
	skip,
}, async () => {
	const id = await newBase('Playground');
	for (const name of SAMPLES) await upload(app, id, name);
	await untilSettled(app, id);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/knowledge/${id}?tab=search`);
	const { page } = owner;
	await page.getByLabel('Question').fill('How do I descale the kettle?');
	await page.keyboard.press('Enter');
	const marked = page.locator('.hit-in-reply');
	await page.getByText('5 of them go into the reply').waitFor();
	assert.equal(await marked.count(), 5);
	const slider = page.getByRole('slider', { name: 'Least score of a passage' });
	await slider.focus();
	await page.keyboard.press('End');
	await page.getByText('0 of them go into the reply').waitFor();
	await page.getByText('Below the least score').first().waitFor();
	await page.getByRole('slider', { name: 'Weight of meaning against words' }).focus();
	await page.keyboard.press('End');
	const before = (await app.call('GET', `${BASES}/${id}`)).body.search_settings;
	assert.notEqual(before.semantic_weight, 1, 'a slider saves nothing');
	// As a training does, at any time.
	await app.call('PATCH', `${BASES}/${id}`, { description: 'Changed meanwhile.' });
	await page.getByRole('button', { name: 'Save the weight' }).click();
	await page.getByText('The weight was saved.').waitFor();
	const { semantic_weight, semantic_weight_source } = (await app.call('GET', `${BASES}/${id}`)).body.search_settings;
	assert.deepEqual([semantic_weight, semantic_weight_source], [1, 'set']);
});

test('a knowledge base is renamed, reindexed, and deleted after it has said what is lost', { skip }, async () => {
	const id = await newBase('Old name');
	await addText(id, 'Warranty', 'Three years.');
	const assistant = await createResource(app, '/api/v1/assistants', { name: 'Kettle help' });
	await app.call('POST', `/api/v1/assistants/${assistant}/knowledge-bases`, { knowledge_base_id: id });
	await untilSettled(app, id);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/knowledge/${id}?tab=settings`);
	const { page } = owner;
	await page.getByLabel('Name').fill('New name');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByRole('heading', { name: 'New name' }).waitFor();
	await page.getByRole('button', { name: 'Reindex now' }).click();
	await page.getByText('The reindex has begun.').waitFor();
	await untilSettled(app, id);
	await page.getByRole('button', { name: 'Reindex now' }).waitFor();
	await page.getByRole('button', { name: 'Delete the knowledge base' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByText('You lose 1 document').waitFor();
	await dialog.getByText('Kettle help').waitFor();
	await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
	await page.getByText('New name was deleted.').waitFor();
	assert.equal((await app.call('GET', `${BASES}/${id}`)).status, 404);
});

test('a person who may only read sees documents and tries searches, and is offered no change', { skip }, async () => {
	const id = await newBase('Read only');
	await addText(id, 'Returns', 'Thirty days.');
	await untilSettled(app, id);
	const invited = await app.call('POST', '/api/v1/users', { email: 'viewer@example.com', role: 'viewer' });
	const token = new URL(invited.body.password_link).hash.slice(1);
	await openCookieClient(app).call('POST', '/api/v1/session/password', { token, password: PASSWORD });
	await using browser = await startBrowser();
	await using visitor = await browser.visitor();
	const { page } = visitor;
	await page.goto(`${app.url}/dashboard#/knowledge/${id}`);
	await signIn(page, 'viewer@example.com');
	await page.getByRole('link', { name: 'Returns' }).waitFor();
	assert.equal(await page.getByRole('button', { name: /Add/ }).count(), 0);
	assert.equal(await page.getByRole('link', { name: 'Settings' }).count(), 0);
	await page.getByRole('link', { name: 'Returns' }).click();
	await page.getByText('Thirty days.').first().waitFor();
	assert.equal(await page.getByRole('button', { name: 'Remove' }).count(), 0);
	assert.deepEqual(visitor.problems, []);
});

test('a link to a passage of a long document shows this passage in the list and in the text', { skip }, async () => {
	const id = await newBase('Long');
	const sentence = (at: number) =>
		`Part ${at} of the kettle is made of steel, and it is guaranteed for several years. `;
	const content = Array.from({ length: 200 }, (_, at) => sentence(at).repeat(10)).join('\n\n');
	const document = await addText(id, 'Parts', content);
	await untilSettled(app, id);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/knowledge/${id}/documents/${document}?chunk=70`);
	const { page } = owner;
	for (const area of ['.passage-list', '.whole-text']) {
		const marked = page.locator(`${area} [data-marked]`);
		await until('the passage is at the top of its area', async () => {
			const [frame, box] = [await page.locator(area).boundingBox(), await marked.boundingBox()];
			return frame && box && Math.abs(box.y - frame.y) < 60;
		});
	}
	await page.getByRole('button', { name: 'Passage 71', exact: true, pressed: true }).waitFor();
});

test('a list that cannot be loaded says so, and is loaded again', { skip }, async () => {
	const id = await newBase('Unlucky');
	await addText(id, 'Returns', 'Thirty days.');
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/knowledge');
	const { page } = owner;
	let isBroken = true;
	await page.route(`**${BASES}/${id}/documents?*`, (route) => (isBroken ? route.abort() : route.continue()));
	await page.getByRole('link', { name: 'Unlucky' }).click();
	await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
	isBroken = false;
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.getByRole('link', { name: 'Returns' }).waitFor();
});

test('axe finds nothing wrong in light and dark, in English and German, and a phone needs no sideways scrolling', {
	skip,
}, async () => {
	const id = await newBase('Donaudampfschifffahrtsgesellschaftskapitänsanleitungen');
	const document = await addText(id, 'Kaffeemaschinenentkalkungsanleitung', 'Every month, with vinegar.');
	await upload(app, id, 'empty.txt', { bytes: '\n' });
	await untilSettled(app, id);
	const empty = await newBase('Empty');
	await using browser = await startBrowser();
	for (const [colorScheme, locale, width] of [
		['light', 'en-GB', 1440],
		['dark', 'de-DE', 320],
	] as const) {
		const options = { colorScheme, locale, bypassCSP: true, viewport: { width, height: 640 } };
		await using owner = await openDashboard(app, browser, options);
		const { page } = owner;
		const base = `#/knowledge/${id}`;
		const tabs = ['', '?tab=websites', '?tab=search&q=vinegar', '?tab=settings'].map((tab) => base + tab);
		for (const hash of ['#/knowledge', ...tabs, `#/knowledge/${empty}`, `${base}/documents/${document}?chunk=0`]) {
			await page.goto(`${app.url}/dashboard${hash}`);
			await page.locator('h1').waitFor();
			await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
			assert.deepEqual(await axeFindings(page), [], `${hash} ${colorScheme}`);
			assert.equal(await overflowOf(page), 0, `${hash} is wider than ${width} pixels`);
		}
	}
});
