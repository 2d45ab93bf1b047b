import { LruCache } from '../../base/index.ts';
import { detectLanguage } from '../../text/index.ts';
import { voteLanguage } from '../question/function-words.ts';
import type { QuotablePassage } from '../request.ts';

const SAMPLE_CHARS = 400;
/**
 * In prose about a third of the words are function words. Fewer than a tenth of the words look like those of another
 * language.
 */
const MIN_FUNCTION_WORD_SHARE = 0.2;
const LANGUAGE_CACHE_SIZE = 2_000;
const languageCache = new LruCache<string, { language: string | null }>(LANGUAGE_CACHE_SIZE);

/**
 * The language of each passage. All passages of a document get its most frequent language. A document without a known one
 * (a table, a list of names) gets that of the other documents, so that its words are stemmed like those of the question.
 */
export function passageLanguages(passages: readonly QuotablePassage[]): Array<string | null> {
	const steps = readLanguages(passages);
	let step = steps.next();
	while (!step.done) step = steps.next();
	return step.value;
}

/** As `passageLanguages`. Yields between the passages, so that other work can run. */
export function* readLanguages(passages: readonly QuotablePassage[]): Generator<void, Array<string | null>> {
	const detectedLanguages: Array<string | null> = [];
	for (const passage of passages) {
		detectedLanguages.push(detectPassageLanguage(passage));
		yield;
	}
	const mostCommon = mostFrequent(detectedLanguages);
	const byDocument = new Map<string, Array<string | null>>();
	passages.forEach(({ document_id }, i) => {
		byDocument.set(document_id, [...(byDocument.get(document_id) ?? []), detectedLanguages[i] ?? null]);
	});
	return passages.map(({ document_id }) => mostFrequent(byDocument.get(document_id) ?? []) ?? mostCommon);
}

/** The language that occurs most often; null for an empty list. */
export function mostFrequent(languages: ReadonlyArray<string | null>): string | null {
	const counts = new Map<string, number>();
	for (const language of languages) if (language !== null) counts.set(language, (counts.get(language) ?? 0) + 1);
	return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

function detectPassageLanguage(passage: QuotablePassage): string | null {
	const sample = `${passage.title}\n${passage.text.slice(0, SAMPLE_CHARS)}`;
	let known = languageCache.get(sample);
	if (!known) {
		const { languages, share } = voteLanguage(sample);
		const [only] = languages;
		known = {
			language: only && languages.length === 1 && share >= MIN_FUNCTION_WORD_SHARE ? only : detectLanguage(sample),
		};
		languageCache.set(sample, known);
	}
	return known.language;
}
