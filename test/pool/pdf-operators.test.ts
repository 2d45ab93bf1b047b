import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { createLog } from '../../src/base/index.ts';
import type { ParseJob } from '../../src/contract/index.ts';
import { createWorkerPool } from '../../src/pool/index.ts';
import { bodyLines, makePdf } from '../fixtures/documents/pdf.ts';

// PDF.js does not limit the cost of a page's operators, so the limit on processor time applies.

let folder: string;
before(async () => {
	folder = await mkdtemp(join(tmpdir(), 'parley-pdf-operators-'));
});
after(() => rm(folder, { recursive: true }));

async function store(name: string, bytes: Buffer): Promise<ParseJob> {
	const path = join(folder, name);
	await writeFile(path, bytes);
	return { path, file_name: 'a.pdf', content_type: null, title: null, url: null };
}

const page = (content: string) => ({ filter: '/FlateDecode', bytes: [deflateSync(Buffer.from(content))] });

/** Nested graphics states: the time of PDF.js is quadratic in their number. */
const nestedStates = () => makePdf({ pages: [], streams: page('q '.repeat(125_000)) });

/** Forms that each draw the two forms of the next level: their number doubles at each level. */
function nestedForms(levels: number): Buffer {
	const forms = Array.from({ length: levels }, (_, level) => `/X${2 * level + 2} Do /X${2 * level + 3} Do`);
	return makePdf({
		pages: [],
		streams: page('/X0 Do'),
		forms: [...forms.flatMap((form) => [form, form]), 'q Q', 'q Q'],
	});
}

test('PDFs of nested states and nested forms end at the limit on processor time, and others are read', async () => {
	await using pool = createWorkerPool({ threads: 2, log: createLog('silent'), limits: { parseCpuMs: 3_000 } });
	const bombs = [await store('states', nestedStates()), await store('forms', nestedForms(60))].map((job) =>
		assert.rejects(pool.parse(job), {
			code: 'resource_limit',
			message: 'Reading the file takes more than 3 seconds of processor time.',
		}),
	);
	await Promise.all(bombs);
	await assert.rejects(pool.parse(await store('few', nestedForms(3))), { code: 'no_text' }, 'a few levels are drawn');
	const innocent = await pool.parse(
		await store('innocent', makePdf({ pages: [bodyLines(['Green kettles hold two litres.'])] })),
	);
	assert.equal(innocent.chunks[0]?.text, 'Green kettles hold two litres.');
});
