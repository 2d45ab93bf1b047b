/**
 * npm run bench -- documents [--pages N] [--documents N] [--rounds N]
 *
 * Measures how fast documents are indexed: pages a second of each format through the parse worker (one thread, from the file to
 * analysed chunks), and documents from the stored file to the committed index, through the server's own jobs. The files are
 * generated. A page is a page of a PDF, or 3,000 characters in other formats. Takes about half a minute.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createLog } from '../src/base/index.ts';
import { createWorkerPool } from '../src/pool/index.ts';
import { FORMATS, type GeneratedFile, pagesOf } from './documents/generated.ts';
import { openIngestHarness } from './documents/ingest-harness.ts';
import { spreadOf } from './load/spread.ts';
import { Report } from './report/report.ts';
import { Corpus } from './search/corpus.ts';

const THREADS = 2;

const { values } = parseArgs({
	options: {
		pages: { type: 'string', default: '20' },
		documents: { type: 'string', default: '60' },
		rounds: { type: 'string', default: '3' },
	},
});
const pages = Number(values.pages);
const documents = Number(values.documents);
const rounds = Number(values.rounds);
const formats = Object.entries(FORMATS);

const report = new Report('documents');
const folder = await mkdtemp(join(tmpdir(), 'parley-documents-'));
try {
	await measureParsing();
	await measureIngest();
} finally {
	await rm(folder, { recursive: true, force: true });
}
await report.close();

async function measureParsing(): Promise<void> {
	await using pool = createWorkerPool({ threads: 1, log: createLog('silent') });
	const corpus = new Corpus(1);
	const perSecond = new Map<string, number[]>(formats.map(([format]) => [format, []]));
	// The first round warms up.
	for (let round = 0; round <= rounds; round++) {
		for (const [format, write] of formats) {
			const file = write(`manual-${round}`, pagesOf(corpus, pages));
			const path = join(folder, file.file_name);
			await writeFile(path, file.bytes);
			const { file_name, content_type } = file;
			const started = performance.now();
			const parsed = await pool.parse({ path, file_name, content_type, title: null, url: null });
			const seconds = (performance.now() - started) / 1000;
			if (parsed.format !== format || parsed.chunks.length < pages) {
				throw new Error(`${file_name} was read as ${parsed.format} of ${parsed.chunks.length} chunks.`);
			}
			if (round > 0) perSecond.get(format)?.push(pages / seconds);
		}
	}
	for (const [format, of] of perSecond) {
		const remark = `${pages} pages a file, one thread, to analysed chunks`;
		report.add({ name: `pages of ${format}`, unit: '/s', value: spreadOf(of), remark });
	}
}

/** Time from the first file to the last indexed document, in a new knowledge base each time. */
async function measureIngest(): Promise<void> {
	const perSecond: number[] = [];
	for (let round = 0; round < rounds; round++) {
		await using harness = await openIngestHarness(join(folder, `data-${round}`), THREADS);
		const corpus = new Corpus(round + 1);
		const files: GeneratedFile[] = Array.from({ length: documents }, (_, n) => {
			const [, write] = formats[n % formats.length] as (typeof formats)[number];
			return write(`manual-${n}`, pagesOf(corpus, 2));
		});
		const started = performance.now();
		await harness.ingest(files);
		perSecond.push((documents / (performance.now() - started)) * 1000);
	}
	const remark = `${documents} documents of 2 pages in all formats, ${THREADS} threads, trained and committed`;
	report.add({ name: 'documents stored, parsed, embedded, indexed', unit: '/s', value: spreadOf(perSecond), remark });
}
