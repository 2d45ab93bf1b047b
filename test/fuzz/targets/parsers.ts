import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { AppError } from '../../../src/base/index.ts';
import { createWorkerPool } from '../../../src/pool/index.ts';
import { noSharedDocuments } from '../../support/shared-documents.ts';
import { type ByteEdit, byteEdit, editBytes } from '../mutations/bytes.ts';
import { MADE_DOCUMENTS, type OriginalDocument, REAL_DOCUMENTS } from '../mutations/documents.ts';
import { editPdf, type PdfEdit, pdfEdit } from '../mutations/pdf.ts';
import { editZip, type ZipEdit, zipEdit } from '../mutations/zip.ts';
import type { FuzzSession, FuzzTarget } from '../target.ts';

/** A document and its changes. A splice continues it with the end of another document. */
interface ChangedDocument {
	document: string;
	changes: Array<ByteEdit | ZipEdit | PdfEdit | { splice: string; at: number }>;
}

/** Codes of errors that a damaged document may have. Another code is the server's fault. */
const EXPECTED_CODES = ['no_text', 'unreadable_file', 'unsupported_file_type', 'resource_limit'];
/** Sentences about a document that a parser failed on without noticing why, or that used up its processor time. */
const UNEXPECTED_SENTENCES = /reader gave up|processor time/;

const isZip = (name: string) => /\.(?:docx|xlsx|pptx|od[tsp]|epub)$/.test(name);

/** Changes of bytes for every format, and of the structure of archives and PDFs. */
function changesOf(name: string, others: readonly string[]): fc.Arbitrary<ChangedDocument['changes'][number]> {
	const splice = fc.record({
		splice: fc.constantFrom(...others),
		at: fc.nat(999).map((thousandths) => thousandths / 1000),
	});
	const general: fc.WeightedArbitrary<ChangedDocument['changes'][number]>[] = [
		{ weight: 6, arbitrary: byteEdit },
		{ weight: 1, arbitrary: splice },
	];
	if (isZip(name)) general.push({ weight: 14, arbitrary: zipEdit });
	if (name.endsWith('.pdf')) general.push({ weight: 8, arbitrary: pdfEdit });
	return fc.oneof(...general);
}

function inputsOf(documents: readonly OriginalDocument[]): fc.Arbitrary<ChangedDocument> {
	const names = documents.map(({ name }) => name);
	return fc.constantFrom(...names).chain((name) =>
		fc.record({
			document: fc.constant(name),
			changes: fc.array(changesOf(name, names), { minLength: 1, maxLength: 6 }),
		}),
	);
}

function parserTarget(
	name: string,
	documents: readonly OriginalDocument[],
	skip: string | false,
	shortRuns: number,
): FuzzTarget<ChangedDocument> {
	const bytesOf = (document: string) => documents.find((each) => each.name === document)?.bytes() ?? Buffer.alloc(0);
	const fileOf = ({ document, changes }: ChangedDocument) => {
		const bytes = changes.reduce((before, change) => {
			if ('edit' in change) return editBytes(before, change);
			if ('zip' in change) return editZip(before, change);
			if ('pdf' in change) return editPdf(before, change);
			const other = bytesOf(change.splice);
			const part = (of: Buffer) => Math.floor(of.length * change.at);
			return Buffer.concat([before.subarray(0, part(before)), other.subarray(part(other))]);
		}, bytesOf(document));
		return { bytes, extension: extname(document).slice(1) };
	};
	return {
		name,
		skip,
		shortRuns,
		deadlineMs: 120_000,
		inputs: skip === false ? inputsOf(documents) : fc.constant({ document: '', changes: [] }),
		fileOf,
		open: () => openParsers(fileOf),
	};
}

/** Parses in the server's parsing process, with its limits. */
async function openParsers(
	fileOf: (input: ChangedDocument) => { bytes: Uint8Array; extension: string },
): Promise<FuzzSession<ChangedDocument>> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-fuzz-'));
	const ends: Array<{ cause?: string }> = [];
	const log = pino({ level: 'warn' }, { write: (line: string) => void ends.push(JSON.parse(line)) });
	const pool = createWorkerPool({ threads: 1, log });
	return {
		async run(input) {
			const { bytes, extension } = fileOf(input);
			const path = join(folder, 'document');
			await writeFile(path, bytes);
			const fileName = `${basename(input.document, `.${extension}`)}.${extension}`;
			try {
				await pool.parse({ path, file_name: fileName, content_type: null, title: null, url: null });
			} catch (error) {
				if (
					!(error instanceof AppError) ||
					!EXPECTED_CODES.includes(error.code) ||
					UNEXPECTED_SENTENCES.test(error.message)
				)
					throw error;
			}
			// A process that is ended for its memory is the limit at work; any other end is a crash.
			const crash = ends.splice(0).find(({ cause }) => cause !== 'memory');
			if (crash) throw new Error(`The parsing process ended: ${JSON.stringify(crash)}`);
		},
		async [Symbol.asyncDispose]() {
			await pool[Symbol.asyncDispose]();
			await rm(folder, { recursive: true });
		},
	};
}

export const parsers = parserTarget('parsers', REAL_DOCUMENTS, noSharedDocuments, 40);
export const madeDocuments = parserTarget('made-documents', MADE_DOCUMENTS, false, 100);
