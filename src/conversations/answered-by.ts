import type { ReplyProgress } from './reply-progress.ts';
import type { ReplyOutcome } from './turn.ts';

/** What the answer of a reply is from. Null if it failed, or its search failed, or it has no text. */
export function answeredBy(
	{ status, content, citations, tool_calls }: Pick<ReplyOutcome, 'status' | 'content' | 'citations' | 'tool_calls'>,
	{ isRefused, needsCitation, searchFailed }: Pick<ReplyProgress, 'isRefused' | 'needsCitation' | 'searchFailed'>,
): ReplyOutcome['answered_by'] {
	if (status === 'failed' || content.trim() === '') return null;
	if (citations.length > 0) return 'documents';
	if (tool_calls.some((call) => call.status === 'completed')) return 'tools';
	if (!isRefused && !needsCitation) return 'model';
	return searchFailed ? null : 'none';
}
