import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createResource, untilProcessed, untilSettled, upload } from '../api/fixture.ts';
import { makePdf } from '../fixtures/documents/pdf.ts';
import { startTestApp } from '../support/app.ts';

const BASES = '/api/v1/knowledge-bases';
const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const newBase = () => createResource(app, BASES, { name: 'Shop' });
const addText = async (base: string, content: string) =>
	(await app.call('POST', `${BASES}/${base}/documents`, { source_type: 'text', content })).body.id as string;
const addScan = async (base: string, name: string) =>
	(await upload(app, base, name, { bytes: makePdf({ pages: [[], []] }) })).body.id as string;
const search = async (base: string, query: string) =>
	(await app.call('POST', `${BASES}/${base}/search`, { query })).body.data;

/** The fields of a knowledge base in its own record and in its indexing status. */
async function told(base: string) {
	const { status, documents_indexed, documents_failed, searchable } = await untilSettled(app, base);
	const { body } = await app.call('GET', `${BASES}/${base}`);
	assert.deepEqual([body.status, body.documents_failed, body.searchable], [status, documents_failed, searchable]);
	return [status, documents_indexed, documents_failed, searchable];
}

test('a scan and a blank text end in error with no_text, and the other documents are found', async () => {
	const base = await newBase();
	await addText(base, 'The kettle is blue.');
	const scan = await addScan(base, 'scan.pdf');
	const blank = await addText(base, ' \n\t … ');
	assert.deepEqual(await told(base), ['error', 1, 2, true]);
	for (const id of [scan, blank]) {
		const { status, error, chunk_count, indexed_at } = await untilProcessed(app, base, id);
		assert.deepEqual([status, error.code, chunk_count, indexed_at], ['error', 'no_text', 0, null]);
		assert.match(error.message, /^[A-Z].*\.$/);
	}
	assert.equal((await search(base, 'kettle')).length, 1);

	const retried = await app.call('POST', `${BASES}/${base}/documents/${scan}/retry`);
	assert.equal(retried.status, 200);
	assert.deepEqual(await told(base), ['error', 1, 2, true], 'the same bytes have no more text than before');

	for (const id of [scan, blank]) await app.call('DELETE', `${BASES}/${base}/documents/${id}`);
	assert.deepEqual(await told(base), ['ready', 1, 0, true]);
});

test('a knowledge base is ready again after a failed file is removed and its repaired copy is uploaded', async () => {
	const base = await newBase();
	const scan = await addScan(base, 'manual.pdf');
	assert.deepEqual(await told(base), ['error', 0, 1, false]);
	await app.call('DELETE', `${BASES}/${base}/documents/${scan}`);
	const mended = makePdf({ pages: [[{ text: 'The kettle is blue.', y: 700 }]] });
	await upload(app, base, 'manual.pdf', { bytes: mended });
	assert.deepEqual(await told(base), ['ready', 1, 0, true]);
	assert.equal((await search(base, 'kettle')).length, 1);

	// The other order: the repaired copy is uploaded before the failed file is removed.
	const other = await addScan(base, 'guide.pdf');
	await upload(app, base, 'guide.pdf', { bytes: makePdf({ pages: [[{ text: 'The lamp is green.', y: 700 }]] }) });
	assert.deepEqual(await told(base), ['error', 2, 1, true]);
	await app.call('DELETE', `${BASES}/${base}/documents/${other}`);
	assert.deepEqual(await told(base), ['ready', 2, 0, true]);
});

test('a reply uses the indexed documents although another document has no text', async () => {
	const base = await newBase();
	await addText(base, 'The kettle of the shop costs 25 euros.');
	await addScan(base, 'scan.pdf');
	await untilSettled(app, base);
	const assistant = await createResource(app, '/api/v1/assistants', { name: 'Shop' });
	await app.call('POST', `/api/v1/assistants/${assistant}/knowledge-bases`, { knowledge_base_id: base });
	const deployment = await createResource(app, '/api/v1/deployments', { name: 'Web', assistant_id: assistant });
	const message = { deployment_id: deployment, content: 'What does the kettle cost?' };
	const { body } = await app.call('POST', '/api/v1/messages', message);
	assert.match(body.content, /25 euros/);
});

test('a knowledge base with only scans is in error and not searchable', async () => {
	const base = await newBase();
	// The same bytes twice: the second document gets the same error.
	await addScan(base, 'scan.pdf');
	await addScan(base, 'scan.pdf');
	assert.deepEqual(await told(base), ['error', 0, 2, false]);
	assert.deepEqual(await search(base, 'kettle'), []);
});

test('a reindex ends although one document has no text', async () => {
	const base = await newBase();
	await addText(base, 'The kettle is blue.');
	await addScan(base, 'scan.pdf');
	await untilSettled(app, base);
	const { status } = await app.call('POST', `${BASES}/${base}/reindex`);
	assert.equal(status, 200);
	assert.deepEqual(await told(base), ['error', 1, 1, true]);
	assert.equal((await search(base, 'kettle')).length, 1);
});
