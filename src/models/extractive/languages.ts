import { LruCache } from '../../base/index.ts';
import { detectLanguage } from '../../text/index.ts';
import type { Passage } from '../chat-model.ts';
import { voteOn } from './asking-words.ts';

const DETECTED_LENGTH = 400;
/** In prose about a third of the words are function words; of another language's fewer than a tenth look like them. */
const PROSE_SHARE = 0.2;
const REMEMBERED = 2_000;
const remembered = new LruCache<string, { language: string | null }>(REMEMBERED);

/**
 * The language of each passage. Passages of one document agree, and one that could not be told (a table, a list of
 * names) follows the others, so that its words are stemmed as the question's are.
 */
export function passageLanguages(passages: readonly Passage[]): Array<string | null> {
	const told = passages.map(detected);
	const most = mostOf(told);
	const byDocument = new Map<string, Array<string | null>>();
	passages.forEach(({ document_id }, i) => {
		byDocument.set(document_id, [...(byDocument.get(document_id) ?? []), told[i] ?? null]);
	});
	return passages.map(({ document_id }) => mostOf(byDocument.get(document_id) ?? []) ?? most);
}

/** The language that occurs most often, null where there is none. */
export function mostOf(languages: ReadonlyArray<string | null>): string | null {
	const counts = new Map<string, number>();
	for (const language of languages) if (language !== null) counts.set(language, (counts.get(language) ?? 0) + 1);
	return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

function detected(passage: Passage): string | null {
	const sample = `${passage.title}\n${passage.text.slice(0, DETECTED_LENGTH)}`;
	let known = remembered.get(sample);
	if (!known) {
		const { languages, share } = voteOn(sample);
		const [only] = languages;
		known = { language: only && languages.length === 1 && share >= PROSE_SHARE ? only : detectLanguage(sample) };
		remembered.set(sample, known);
	}
	return known.language;
}
