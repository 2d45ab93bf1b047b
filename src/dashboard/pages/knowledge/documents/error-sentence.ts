import { errorText } from '../../../languages/error-text.ts';
import { strings } from '../../../languages/index.ts';
import type { KnowledgeStrings } from '../../../languages/strings.ts';

type Problem = { code: string; message: string };

/** What a person can do about a problem of a document, a page or a knowledge base, by its code. */
const SENTENCES: Readonly<Record<string, keyof KnowledgeStrings>> = {
	unsupported_file_type: 'errorUnsupported',
	unreadable_file: 'errorUnreadable',
	resource_limit: 'errorTooExpensive',
	no_text: 'errorNoText',
	payload_too_large: 'errorTooLarge',
	url_not_allowed: 'errorUrlNotAllowed',
	forbidden: 'errorForbidden',
	not_found: 'errorNotFound',
	internal_error: 'errorInternal',
	model_error: 'errorEmbedder',
	unknown_model: 'errorEmbedder',
	unavailable: 'errorUnavailable',
	insufficient_scope: 'errorNotPermitted',
	plan_limit_exceeded: 'errorPlan',
	rate_limit_exceeded: 'errorBusy',
};

/** What is wrong and what to do, in the language of the dashboard. */
export function adviceOf(problem: Problem): string {
	const name = Object.hasOwn(SENTENCES, problem.code) ? SENTENCES[problem.code] : undefined;
	const text = name && strings().knowledgePages[name];
	return typeof text === 'string' ? text : errorText(strings().errors, problem);
}
