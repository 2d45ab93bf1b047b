import { readFile } from 'node:fs/promises';
import { AppError, shortageOf } from '../src/base/index.ts';
import type { ParsedChunk, ParsedDocument, ParseJob, WorkerResult } from '../src/contract/index.ts';
import { chunkDocument, type ExtractedDocument, parseDocument } from '../src/parsing/index.ts';
import { TextRecogniser } from '../src/pool/index.ts';
import { detectLanguage } from '../src/text/index.ts';

/** The size of the sample for language detection. */
const LANGUAGE_SAMPLE_CHARS = 20_000;

/**
 * Reads one stored file into chunks, at least one unless it has scans. A file that cannot be read, or has no text, gives an
 * error as result. Only a failure of the server itself (the stored file is missing) rejects.
 */
export default async function parse(job: ParseJob): Promise<WorkerResult<ParsedDocument>> {
	const bytes = await readFile(job.path);
	try {
		const { recognition } = job;
		await using recogniser = typeof recognition === 'object' ? new TextRecogniser(recognition) : null;
		const document = await parseDocument(bytes, job, recogniser ?? (recognition && 'detect'));
		const title = job.title ?? document.title;
		const language = languageOf(document.blocks) ?? document.declared_language;
		const chunks = chunkDocument({ title: title ?? stemOf(job.file_name), language, blocks: document.blocks });
		const { format, page_count, has_scans = false, missing_text } = document;
		const found = chunks.some(hasWords);
		if (!found && !has_scans) throw new AppError('no_text', noTextMessage(bytes.length, document, job.recognition));
		return {
			ok: true,
			value: { title, format, language, page_count, has_scans, missing_text, chunks: found ? chunks : [] },
		};
	} catch (error) {
		const shortage = shortageOf(error);
		if (shortage !== null || !(error instanceof AppError)) throw shortage ?? error;
		return { ok: false, error: { code: error.code, message: error.message } };
	}
}

/** Only letters and digits can be searched. */
function hasWords({ text, heading_path }: ParsedChunk): boolean {
	return [text, ...heading_path].some((part) => /[\p{L}\p{N}]/u.test(part));
}

/** The reason why a document has no text, with a remedy. */
function noTextMessage(
	size: number,
	{ format, page_count, missing_text }: ExtractedDocument,
	recognition: ParseJob['recognition'],
): string {
	if (size === 0) return 'The file is empty. Upload a file with text in it.';
	if (missing_text !== undefined) return `The file has no other text. ${missing_text}`;
	if (format === 'pdf' && typeof recognition === 'object') {
		return 'The PDF has no text, and text recognition (OCR) found none in the pictures of its pages.';
	}
	if (format === 'pdf') {
		const pages = page_count === 1 ? 'Its page is' : 'Its pages are';
		return `The PDF has no text. ${pages} probably scanned: run text recognition (OCR) on the file and upload the result.`;
	}
	return 'The document has no letters or digits, so nothing in it can be found. Upload a document with text in it.';
}

function languageOf(blocks: Array<{ text: string }>): string | null {
	let sample = '';
	for (const { text } of blocks) {
		if (sample.length > LANGUAGE_SAMPLE_CHARS) break;
		sample += `${text}\n`;
	}
	return detectLanguage(sample);
}

/** The file name without extension, as title of a document without one. */
function stemOf(fileName: string | null): string | null {
	return fileName?.replace(/\.[a-z0-9]{1,8}$/i, '').replace(/[_-]+/g, ' ') || null;
}
