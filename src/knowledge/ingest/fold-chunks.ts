import type { ParsedChunk } from '../../contract/index.ts';
import type { WorkerPool } from '../../pool/index.ts';

/** Chunks of one job, about a megabyte of terms, because the worker gets a copy of its job. */
const PORTION = 500;

/** The vectors of a document's chunks. */
export interface FoldedChunks {
	/** One row for each chunk. */
	vectors: Int8Array;
	/** Share of the chunks' terms that the basis does not know, 0..1. */
	unknownShare: number;
}

/**
 * Embeds a document's chunks with a stored basis in portions: a document of 10 MB is never copied as a whole, and other jobs
 * run in between.
 * @throws AppError `unavailable`, also when the basis was replaced meanwhile; the signal's reason
 */
export async function foldChunks(
	pool: Pick<WorkerPool, 'fold'>,
	database: string,
	basis: string,
	chunks: readonly ParsedChunk[],
	signal: AbortSignal,
): Promise<FoldedChunks> {
	const rows: Int8Array[] = [];
	let terms = 0;
	let unknown = 0;
	for (let at = 0; at < chunks.length; at += PORTION) {
		const portion = chunks.slice(at, at + PORTION).map(({ title_terms, body_terms }) => ({ title_terms, body_terms }));
		const folded = await pool.fold({ kind: 'fold', database, basis, chunks: portion }, signal);
		rows.push(folded.vectors);
		terms += folded.terms;
		unknown += folded.unknown_terms;
	}
	return { vectors: joined(rows), unknownShare: terms === 0 ? 0 : unknown / terms };
}

function joined(parts: readonly Int8Array[]): Int8Array {
	const whole = new Int8Array(parts.reduce((sum, { length }) => sum + length, 0));
	let at = 0;
	for (const part of parts) {
		whole.set(part, at);
		at += part.length;
	}
	return whole;
}
