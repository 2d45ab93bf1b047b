import type { ParsedDocument, ParseJob } from '../../contract/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import { finalReason } from './fail-document.ts';

/**
 * Parses a document, and recognises the text of its scanned pages if the server can. If that fails, the text that the file itself has
 * remains.
 * @param failures the number of failures of the document before
 * @throws AppError as `WorkerPool.parse`
 */
export async function parseWithRecognition(
	pool: Pick<WorkerPool, 'parse' | 'recognise'>,
	job: ParseJob,
	signal: AbortSignal,
	failures: number,
): Promise<ParsedDocument> {
	const parsed = await pool.parse(job, signal);
	if (!parsed.has_scans) return parsed;
	try {
		return await pool.recognise(job, signal);
	} catch (error) {
		const isFinal = finalReason(error, failures + 1) !== null;
		if (signal.aborted || !isFinal || parsed.chunks.length === 0) throw error;
		return parsed;
	}
}
