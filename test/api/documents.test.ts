import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { createResource, untilProcessed, untilSettled, upload } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const BASES = '/api/v1/knowledge-bases';
const knowledgeBase = await createResource(app, BASES, { name: 'Shop' });
const documents = `${BASES}/${knowledgeBase}/documents`;

/** The titles of a list, with its filters. */
async function titles(query: string): Promise<string[]> {
	const { status, body } = await app.call('GET', `${documents}?${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	return body.data.map(({ title }: { title: string }) => title);
}

async function download(id: string): Promise<Response> {
	return fetch(`${app.url}${documents}/${id}/content`, { headers: { authorization: `Bearer ${app.key}` } });
}

await createResource(app, documents, { source_type: 'text', title: 'Übersicht', content: 'All kettles.' });
await createResource(app, documents, { source_type: 'text', title: 'Returns', content: 'Thirty days.' });
await upload(app, knowledgeBase, 'scan of the invoice.txt', { bytes: '\n\n' });
await upload(app, knowledgeBase, 'warranty.txt', { bytes: 'Three years.', title: 'How long it lasts' });
await untilSettled(app, knowledgeBase);

test('documents are listed by status, the newest first', async () => {
	assert.deepEqual(await titles('status=error'), ['scan of the invoice.txt']);
	assert.deepEqual(await titles('status=indexed'), ['How long it lasts', 'Returns', 'Übersicht']);
	assert.deepEqual(await titles('status=queued'), []);
	assert.equal((await app.call('GET', `${documents}?status=lost`)).status, 400);
});

test('documents are found by a part of their title or file name, in upper or lower case', async () => {
	assert.deepEqual(await titles('name=%C3%BCBERS'), ['Übersicht']);
	assert.deepEqual(await titles('name=warranty'), ['How long it lasts']);
	assert.deepEqual(await titles('name=lasts&status=error'), []);
	assert.deepEqual(await titles('name=%25'), [], 'no character has a special meaning');
	const { body: first } = await app.call('GET', `${documents}?name=r&limit=1`);
	assert.deepEqual(
		[first.data[0].title, (await titles(`name=r&limit=1&cursor=${first.next_cursor}`))[0]],
		['How long it lasts', 'Returns'],
	);
	assert.equal((await app.call('GET', `${documents}?name=s&cursor=${first.next_cursor}`)).status, 400);
});

test('a search by name reads on until it has found enough', async () => {
	const many = await createResource(app, BASES, { name: 'Many' });
	const add = (title: string) =>
		createResource(app, `${BASES}/${many}/documents`, { source_type: 'text', title, content: `About ${title}.` });
	await add('The oldest');
	for (let first = 0; first < 600; first += 50) {
		await Promise.all(Array.from({ length: 50 }, (_, at) => add(`Page ${first + at}`)));
	}
	const { body } = await app.call('GET', `${BASES}/${many}/documents?name=oldest`);
	assert.deepEqual([body.data.length, body.next_cursor], [1, null]);
});

test('the content of a document is its file, as a download that no browser runs', async () => {
	const { body } = await upload(app, knowledgeBase, 'Größen (neu).html', { bytes: '<script>alert(1)</script>Sizes' });
	await untilProcessed(app, knowledgeBase, body.id);
	const response = await download(body.id);
	assert.equal(response.status, 200);
	assert.equal(await response.text(), '<script>alert(1)</script>Sizes');
	assert.equal(response.headers.get('content-type'), 'application/octet-stream');
	assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
	assert.match(response.headers.get('content-security-policy') ?? '', /sandbox/);
	const disposition = response.headers.get('content-disposition') ?? '';
	assert.match(disposition, /^attachment; filename="[ -~]+"; filename\*=UTF-8''Gr%C3%B6%C3%9Fen%20%28neu%29\.html$/);
});

test('a large file arrives whole, and a page that was not fetched has no content', async () => {
	const bytes = `${'Many words about kettles. '.repeat(100_000)}end`;
	const { body: large } = await upload(app, knowledgeBase, 'large.txt', { bytes });
	assert.equal(await (await download(large.id)).text(), bytes);
	const url = 'https://shop.example/page';
	const { body: page } = await app.call('POST', documents, { source_type: 'url', url });
	const missing = await download(page.id);
	assert.equal(missing.status, 404);
	assert.match(await missing.text(), /was not fetched/);
	assert.equal((await download('doc_unknown')).status, 404);
});

test('a search for a reply leaves out passages that repeat another one', async () => {
	const base = await createResource(app, BASES, { name: 'Twice' });
	const add = (title: string, content: string) =>
		createResource(app, `${BASES}/${base}/documents`, { source_type: 'text', title, content });
	const text = 'The warranty of the kettle lasts three years from the day of purchase.';
	await add('First', text);
	await add('Second', text);
	await add('Third', 'The warranty of the toaster lasts two years.');
	await untilSettled(app, base);
	const found = async (body: object) => {
		const { data } = (
			await app.call('POST', `${BASES}/${base}/search`, {
				query: 'How long is the warranty of the kettle?',
				top_k: 2,
				...body,
			})
		).body;
		return data.map(({ text: hit }: { text: string }) => hit);
	};
	assert.equal(new Set(await found({})).size, 1, 'a plain search shows both');
	assert.equal(new Set(await found({ for_reply: true })).size, 2);
});
