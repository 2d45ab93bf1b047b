import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { createResource, untilSettled } from '../api/fixture.ts';
import { noBrowser, startBrowser } from '../support/browser.ts';
import {
	noSharedDocuments,
	SHARED_DOCUMENTS,
	type SharedDocument,
	sharedDocuments,
} from '../support/shared-documents.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

/** What a person can do about a file that failed, by the code of its error. */
const ADVICE: Readonly<Record<string, string>> = {
	no_text:
		'It has no text that can be searched, for example because it is a scan. Recognise its text first (OCR), then upload it.',
	unreadable_file:
		'The file cannot be read: it is damaged, or protected with a password. Open it on your computer, save it again without a password, and upload it.',
};

/** A document as the API lists it. */
interface Listed {
	file_name: string;
	status: string;
	chunk_count: number;
	error: { code: string; message: string } | null;
}

/** Drops files on the page, as a person does with the pointer. */
async function dropFiles(page: Page, paths: string[]): Promise<void> {
	const session = await page.context().newCDPSession(page);
	const data = { items: [], files: paths, dragOperationsMask: 1 };
	for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
		await session.send('Input.dispatchDragEvent', { type, x: 700, y: 400, data });
	}
	await session.detach();
}

/** Records what the row of each uploaded file says, one state after the other. */
const recordUploads = (page: Page) =>
	page.evaluate(`(() => {
		const seen = window.seenStates = {};
		const look = () => {
			for (const row of document.querySelectorAll('.uploads li')) {
				const name = row.querySelector('.upload-name').firstChild.textContent;
				const state = row.querySelector('.upload-progress, .status, :scope > .soft')?.textContent ?? '';
				const states = seen[name] ??= [];
				if (states.at(-1) !== state) states.push(state);
			}
		};
		new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
	})()`);

/** Checks how a document has ended against the manifest. */
function checkOutcome({ file, expect }: SharedDocument, { status, error, chunk_count }: Listed): void {
	const outcome = error ? `${status}: ${error.code}` : status;
	const allowed: Record<string, string[]> = {
		text: ['indexed'],
		text_uncertain: ['indexed', 'error: no_text', 'error: unreadable_file'],
		no_text: ['indexed', 'error: no_text'],
		password: ['error: unreadable_file'],
		malformed: ['error: unreadable_file', 'error: no_text'],
	};
	assert.ok(allowed[expect]?.includes(outcome), `${file}, which should end as ${expect}: ${outcome}`);
	if (status === 'indexed') assert.ok(chunk_count > 0, `${file} is indexed without a passage`);
	if (expect === 'password') assert.match(error?.message ?? '', /password/);
}

test('53 real files that are dropped at once show their progress, and each is indexed or says what to do', {
	skip: noBrowser || noSharedDocuments,
}, async () => {
	const base = '/api/v1/knowledge-bases';
	const id = await createResource(app, base, { name: 'Shared files' });
	const total = sharedDocuments.length;
	assert.equal(total, 53);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/knowledge/${id}`);
	const { page } = owner;
	await page.getByText('No document yet').waitFor();
	await recordUploads(page);
	await dropFiles(
		page,
		sharedDocuments.map(({ file }) => fileURLToPath(new URL(file, SHARED_DOCUMENTS))),
	);
	const uploads = page.getByRole('region', { name: 'Uploads' });
	await uploads.getByRole('button', { name: 'Clear the list' }).waitFor();
	assert.equal(await uploads.getByRole('status').textContent(), `${total} of ${total} uploaded`);

	const status = await untilSettled(app, id);
	const { data } = (await app.call('GET', `${base}/${id}/documents?limit=100`)).body as { data: Listed[] };
	const documents = new Map(data.map((document) => [document.file_name, document]));
	assert.equal(documents.size, total);
	const failed = data.filter(({ error }) => error !== null);
	assert.deepEqual(
		[status.documents_total, status.documents_indexed, status.documents_failed],
		[total, total - failed.length, failed.length],
	);
	const states = (await page.evaluate('window.seenStates')) as Record<string, string[]>;
	assert.equal(Object.keys(states).length, total);
	for (const entry of sharedDocuments) {
		const name = basename(entry.file);
		const document = documents.get(name);
		assert.ok(document, `${name} is not in the list of the API`);
		checkOutcome(entry, document);
		const seen = states[name] ?? [];
		assert.ok(
			seen.some((state) => /^Uploading, \d+ %$/.test(state)),
			`${name} showed no progress: ${seen.join(', ')}`,
		);
		assert.equal(seen.at(-1), document.error ? 'Failed' : 'Indexed', name);
		const row = uploads.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });
		const advice = await row.locator('.field-error').allTextContents();
		assert.deepEqual(advice, document.error ? [ADVICE[document.error.code]] : [], name);
	}

	// Without the list of uploads and after a reload, the documents say the same.
	await uploads.getByRole('button', { name: 'Clear the list' }).click();
	await uploads.waitFor({ state: 'detached' });
	await page.reload();
	await page.getByText(`${total} documents`).waitFor();
	await page.getByLabel('Status').selectOption('error');
	const list = page.getByRole('list', { name: 'Documents' });
	await list.getByText('Indexed', { exact: true }).first().waitFor({ state: 'detached' });
	await list
		.locator('.field-error')
		.nth(failed.length - 1)
		.waitFor();
	const sentences = await list.locator('.field-error').allTextContents();
	assert.deepEqual(sentences.sort(), failed.map(({ error }) => ADVICE[error?.code ?? '']).sort());
	assert.equal(await list.getByRole('button', { name: /^Read again/ }).count(), failed.length);
	for (const waiting of ['queued', 'processing']) {
		await page.getByLabel('Status').selectOption(waiting);
		await page.getByText('No document matches').waitFor();
	}
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});
