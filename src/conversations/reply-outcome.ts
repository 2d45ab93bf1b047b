import { AppError } from '../base/index.ts';
import { type Passage, supportedCitations } from '../models/index.ts';
import type { StoredCitation } from '../store/index.ts';
import { answeredBy } from './answered-by.ts';
import { progressFrom, type ReplyProgress, usageOf } from './reply-progress.ts';
import { callsOf, type ReplyRound, stopIfRunning } from './reply-rounds.ts';
import type { ReplyOutcome } from './turn.ts';

/** Codes of errors whose sentences are for clients. */
const PUBLIC_CODES: readonly string[] = ['model_error', 'usage_limit_reached'];

/** A reply that ends with its progress so far. */
export function outcomeOf(
	progress: ReplyProgress,
	status: ReplyOutcome['status'],
	error: ReplyOutcome['error'] = null,
): ReplyOutcome {
	const { text, passages, shownIndexes, rounds, timer } = progress;
	const citable = passages.filter(({ index }) => shownIndexes.has(index));
	const tool_calls = callsOf(rounds).map(stopIfRunning);
	const ended = { content: text, status, citations: citationsIn(text, citable), tool_calls };
	const answered_by = answeredBy(ended, progress);
	const [first_token_ms, duration_ms] = [timer?.firstTokenMs ?? null, timer?.elapsedMs ?? null];
	return { ...ended, ...usageOf(progress), error, answered_by, first_token_ms, duration_ms };
}

/** A reply that ends with its stored rounds: the process that wrote it has ended, and what its last call has cost is not known. */
export function interruptedOutcome(
	rounds: readonly ReplyRound[],
	status: ReplyOutcome['status'],
	error: ReplyOutcome['error'] = null,
): ReplyOutcome {
	return { ...outcomeOf(progressFrom(rounds), status, error), unreportedCalls: [null] };
}

/** A failure as the message shows it. A defect of the server shows no internals. */
export function publicError(error: unknown): { code: string; message: string } {
	if (error instanceof AppError && PUBLIC_CODES.includes(error.code))
		return { code: error.code, message: error.message };
	return { code: 'model_error', message: 'The model failed to answer.' };
}

/** The passages that the text cites, in order of first mention, without those that have nothing of what they are cited for. */
function citationsIn(text: string, passages: readonly Passage[]): StoredCitation[] {
	return supportedCitations(text, passages).flatMap((index) => {
		const passage = passages.find((each) => each.index === index);
		if (!passage) return [];
		const { document_id, title, url, page, text: quoted, score, knowledge_base_id, position } = passage;
		const chunk = position === undefined ? {} : { chunk_id: `${document_id}.${position}` };
		const place = { ...(knowledge_base_id === undefined ? {} : { knowledge_base_id }), ...chunk };
		return [{ index, document_id, title, url, page, text: quoted, score, ...place }];
	});
}
