import { type Log, messageOf } from '../../base/index.ts';
import type { ParsedDocument, ParseJob } from '../../contract/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import { finalReason, publicReason } from './fail-document.ts';

export interface RecognitionDependencies {
	pool: Pick<WorkerPool, 'parse' | 'recognise'>;
	log: Log;
}

/** The document that is parsed. */
export interface RecognisedFile {
	documentId: string;
	job: ParseJob;
	/** Failures of the document before. */
	failures: number;
}

/**
 * Parses a document, and recognises the text of its scanned pages if the server can. If that fails, the text that the file itself has
 * remains. What is missing is logged.
 * @throws AppError as `WorkerPool.parse`
 */
export async function parseWithRecognition(
	{ pool, log }: RecognitionDependencies,
	{ documentId, job, failures }: RecognisedFile,
	signal: AbortSignal,
): Promise<ParsedDocument> {
	const parsed = await pool.parse(job, signal);
	if (!parsed.has_scans) return parsed;
	try {
		const recognised = await pool.recognise(job, signal);
		const { missing_text } = recognised;
		if (missing_text)
			log.warn({ document: documentId, missing_text }, 'scanned pages of a document were not recognised');
		return recognised;
	} catch (error) {
		const isFinal = finalReason(error, failures + 1) !== null;
		if (signal.aborted || !isFinal || parsed.chunks.length === 0) throw error;
		log.warn({ document: documentId, error: messageOf(error) }, 'the scanned pages of a document were not recognised');
		const { message } = publicReason(error, 'The server’s log has the cause.');
		return { ...parsed, missing_text: `The text of its scanned pages is missing. ${message}` };
	}
}
