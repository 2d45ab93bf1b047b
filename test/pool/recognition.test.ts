import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLog } from '../../src/base/index.ts';
import type { ParsedDocument, ParseJob } from '../../src/contract/index.ts';
import { createWorkerPool, findRecognitionPackages } from '../../src/pool/index.ts';
import { bodyLines, makePdf } from '../fixtures/documents/pdf.ts';

/** Page 1 is a sideways picture (JPEG), page 2 has a line of text over a scan in two strips of black and white. */
const SCAN = fileURLToPath(new URL('../fixtures/documents/scan.pdf', import.meta.url));

let folder: string;
before(async () => {
	folder = await mkdtemp(join(tmpdir(), 'parley-recognition-'));
});
after(() => rm(folder, { recursive: true }));

const jobOf = (path: string): ParseJob => ({ path, file_name: 'a.pdf', content_type: null, title: null, url: null });
const textOf = ({ chunks }: ParsedDocument) => chunks.map(({ page, text }) => `${page}: ${text}`).join('\n');

function packages() {
	const found = findRecognitionPackages('eng', undefined);
	if ('problem' in found) throw new Error(found.problem);
	return found.recognition;
}

test('finds scanned pages, and recognises their text with their page numbers', async () => {
	await using pool = createWorkerPool({ threads: 1, log: createLog('silent'), recognition: packages() });
	const parsed = await pool.parse(jobOf(SCAN));
	assert.equal(parsed.has_scans, true);
	assert.equal(textOf(parsed), '2: Received 4 May 2026');
	const text = textOf(await pool.recognise(jobOf(SCAN)));
	assert.match(text, /^1: .*The warranty covers all parts for two years\./s);
	assert.match(text, /^2: Descale the kettle once a month with citric acid\./m);
	assert.equal(text.split('Received 4 May 2026').length, 2, 'the text of the page itself is there once');
});

test('a document whose pages have text has no scans, and without text recognition no document has', async () => {
	const path = join(folder, 'a.pdf');
	await writeFile(path, makePdf({ pages: [bodyLines(['A title page of few words.'])] }));
	await using pool = createWorkerPool({ threads: 1, log: createLog('silent'), recognition: packages() });
	assert.equal((await pool.parse(jobOf(path))).has_scans, false);
	const deck = join(folder, 'deck.pdf');
	await writeFile(
		deck,
		makePdf({ pages: Array.from({ length: 30 }, (_, at) => bodyLines([`Slide ${at} of few words.`])) }),
	);
	assert.equal((await pool.parse(jobOf(deck))).has_scans, false, 'it does not wait for scans');
	await using plain = createWorkerPool({ threads: 1, log: createLog('silent') });
	assert.equal((await plain.parse(jobOf(SCAN))).has_scans, false);
});

const canCut = process.platform === 'linux' && spawnSync('unshare', ['--net', 'true']).status === 0;

test('recognises text without a network, and writes nothing', { skip: !canCut && 'the network cannot be cut' }, () => {
	const program = fileURLToPath(new URL('./recognise-file.ts', import.meta.url));
	const args = ['--net', process.execPath, '--import', import.meta.resolve('tsx'), program, SCAN];
	const options = { cwd: folder, encoding: 'utf8' } as const;
	const blocks = execFileSync('unshare', [...args, JSON.stringify(packages())], options);
	assert.match(blocks, /two years/);
	assert.deepEqual(
		readdirSync(folder).filter((name) => name.includes('traineddata')),
		[],
	);
});

test('names the packages that are missing', () => {
	const found = findRecognitionPackages('eng+xxx', folder);
	assert.ok('problem' in found);
	assert.match(
		found.problem,
		/tesseract\.js is not in .*Install tesseract\.js @tesseract\.js-data\/eng @tesseract\.js-data\/xxx with npm/,
	);
	const language = findRecognitionPackages('eng+xxx', undefined);
	assert.ok('problem' in language);
	assert.match(language.problem, /^@tesseract\.js-data\/xxx is not in/);
});
