import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Piscina } from 'piscina';
import type { ParsedDocument, ParseJob, WorkerResult } from '../../src/contract/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { makeDocx, p } from '../fixtures/documents/docx.ts';
import { bodyLines, makePdf } from '../fixtures/documents/pdf.ts';

let folder: string;
let pool: Piscina<ParseJob, WorkerResult<ParsedDocument>>;

before(async () => {
	folder = await mkdtemp(join(tmpdir(), 'parley-parse-'));
	const { file, execArgv } = workerEntry('parse');
	pool = new Piscina({ filename: file.href, execArgv, maxThreads: 1 });
});
after(async () => {
	await pool.destroy();
	await rm(folder, { recursive: true });
});

async function parse(fileName: string, bytes: Buffer | string, more: Partial<ParseJob> = {}) {
	const path = join(folder, 'stored');
	await writeFile(path, bytes);
	return pool.run({ path, file_name: fileName, content_type: null, title: null, url: null, ...more });
}

test('each format comes back from the worker as chunks with a language, headings and pages', async () => {
	const line = 'The warranty covers all defects for two years after the day of purchase.';
	const files: Array<[name: string, bytes: Buffer | string]> = [
		['a.pdf', makePdf({ pages: [[], bodyLines([line])] })],
		['a.docx', makeDocx({ body: p(line) })],
		['a.html', `<html><body><p>${line}</p></body></html>`],
		['a.md', `# Warranty\n\n${line}`],
		['a.txt', line],
	];
	for (const [name, bytes] of files) {
		const answer = await parse(name, bytes);
		assert.ok(answer.ok, name);
		const { format, language, page_count, chunks } = answer.value;
		assert.equal(format, name.slice(2));
		assert.equal(language, 'en');
		assert.equal(page_count, name === 'a.pdf' ? 2 : null);
		assert.equal(chunks.length, 1);
		assert.equal(chunks[0]?.text, line);
		assert.equal(chunks[0]?.page, name === 'a.pdf' ? 2 : null);
		assert.deepEqual(chunks[0]?.heading_path, name === 'a.md' ? ['Warranty'] : []);
		assert.match(chunks[0]?.body_terms ?? '', /warranti/);
	}
});

test('a given title precedes the title in the file; a file without either uses its name', async () => {
	const given = await parse('a.md', '# Found\n\nText.', { title: 'Given' });
	const found = await parse('a.md', '# Found\n\nText.');
	const none = await parse('price_list-2026.txt', 'Text.');
	assert.ok(given.ok && found.ok && none.ok);
	assert.equal(given.value.title, 'Given');
	assert.match(given.value.chunks[0]?.title_terms ?? '', /given/i);
	assert.equal(found.value.title, 'Found');
	assert.equal(none.value.title, null);
	assert.match(none.value.chunks[0]?.title_terms ?? '', /price list 2026/);
});

test('a bad file gives an error with a reason, and the worker continues', async () => {
	assert.deepEqual(await parse('a.xlsx', Buffer.from('504b0304ffff', 'hex')), {
		ok: false,
		error: {
			code: 'unsupported_file_type',
			message:
				'This file type is not supported. Send a PDF, DOCX, XLSX, PPTX, ODT, ODS, ODP, RTF, EPUB, EML, HTML, CSV, MD or TXT file.',
		},
	});
	const broken = await parse('a.pdf', '%PDF-1.7 nothing more');
	assert.equal(!broken.ok && broken.error.code, 'unreadable_file');
	const next = await parse('a.txt', 'Fine.');
	assert.ok(next.ok);
});

test('rejects a document without letters and digits with a remedy', async () => {
	for (const [name, bytes, sentence] of [
		['a.pdf', makePdf({ pages: [[]] }), /no text.*scanned.*\(OCR\)/],
		['a.docx', makeDocx({ body: '' }), /no letters or digits/],
		['a.html', '<html><body></body></html>', /no letters or digits/],
		['a.md', '# !\n\n* * *\n\n- ?', /no letters or digits/],
		['a.txt', '', /empty/],
		['a.txt', ' \t\r\n \n', /no letters or digits/],
		['a.txt', '… – !', /no letters or digits/],
	] as const) {
		const answer = await parse(name, bytes);
		assert.ok(!answer.ok, name);
		assert.equal(answer.error.code, 'no_text', name);
		assert.match(answer.error.message, sentence, name);
	}
	assert.ok((await parse('a.txt', '7')).ok);
});

test('a missing stored file rejects, because the document is not the cause', async () => {
	const job = { path: join(folder, 'missing'), file_name: 'a.txt', content_type: null, title: null, url: null };
	await assert.rejects(pool.run(job), /ENOENT/);
});
