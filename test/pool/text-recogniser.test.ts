// Own process: it changes the folder for temporary files.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLog, shortageFromWorker, shortageOf } from '../../src/base/index.ts';
import type { ParseJob } from '../../src/contract/index.ts';
import { createWorkerPool, TextRecogniser } from '../../src/pool/index.ts';
import { until } from '../support/until.ts';

const SCAN = fileURLToPath(new URL('../fixtures/documents/scan.pdf', import.meta.url));
const PAGE = { width: 1, height: 1, pixels: new Uint8Array(1) };

let folder: string;
let temporary: string | undefined;
before(async () => {
	folder = await mkdtemp(join(tmpdir(), 'parley-recogniser-'));
	temporary = process.env.TMPDIR;
});
afterEach(() => {
	if (temporary === undefined) delete process.env.TMPDIR;
	else process.env.TMPDIR = temporary;
});
after(() => rm(folder, { recursive: true }));

/** A file that stands in for tesseract.js. */
async function libraryOf(name: string, createWorker: string): Promise<string> {
	const path = join(folder, `${name}.mjs`);
	await writeFile(path, `export default { createWorker: ${createWorker} };`);
	return path;
}

test('a folder for temporary files that cannot be used, and a shortage, are no fault of the document', async () => {
	const job: ParseJob = { path: SCAN, file_name: 'a.pdf', content_type: null, title: null, url: null };
	const full = "async () => { throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }); }";
	const recognition = { library: await libraryOf('full', full), languages: [] };
	await using recogniser = new TextRecogniser(recognition);
	await assert.rejects(recogniser.linesOf(PAGE), (error) => shortageOf(error) !== null);
	await using pool = createWorkerPool({ threads: 1, log: createLog('silent'), recognition });
	await assert.rejects(pool.recognise(job), (error) => shortageOf(error)?.message.startsWith('The disk') === true);
	process.env.TMPDIR = join(folder, 'missing');
	await using other = createWorkerPool({ threads: 1, log: createLog('silent'), recognition });
	await assert.rejects(other.recognise(job), { code: 'unavailable', message: /could not be started/ });
});

test('does not wait without end for a thread that has ended', async () => {
	const never = '() => new Promise(() => {})';
	await using silent = new TextRecogniser({ library: await libraryOf('silent', never), languages: [] }, 1);
	await assert.rejects(silent.linesOf(PAGE), { code: 'unavailable' });
	const worker = `{ setParameters: async () => {}, recognize: ${never}, terminate: async () => { globalThis.ended = true; } }`;
	const library = await libraryOf('ended', `async () => (${worker})`);
	await using recogniser = new TextRecogniser({ library, languages: [] }, 1);
	assert.equal(await recogniser.linesOf(PAGE), null);
	assert.equal((globalThis as { ended?: boolean }).ended, true);
});

test('a document has its own time limit, after which no more pages are recognised', async () => {
	const recognition = {
		library: await libraryOf('idle', 'async () => ({ terminate: async () => {} })'),
		languages: [],
	};
	await using recogniser = new TextRecogniser(recognition);
	assert.equal(recogniser.isExhausted, false);
	await using short = new TextRecogniser(recognition, 1, 0);
	await until('some processor time is used', () => short.isExhausted);
});

test('a shortage in another thread is known by its message', () => {
	const shortage = shortageOf(Object.assign(new Error('full'), { code: 'ENOSPC' }));
	assert.equal(shortageFromWorker(new Error(shortage?.message))?.message, shortage?.message);
	assert.equal(shortageFromWorker(new Error('The file is damaged.')), null);
});
