import type { Candidate } from '../matching/candidate.ts';
import type { Phrases } from './phrases.ts';
import { renderNames } from './render.ts';

const MAX_TOPICS = 3;
const MAX_TOPIC_CHARACTERS = 80;
/** Below this confidence of the search the documents are about something else. */
const MIN_CONFIDENCE = 0.35;

/** The sentence of a refusal that names the headings of the passages that come nearest; empty if there are none. */
export function nearestTopics(ranked: readonly Candidate[], confidence: number, phrases: Phrases): string {
	if (confidence < MIN_CONFIDENCE) return '';
	const names = new Set<string>();
	for (const { source } of ranked) {
		const name = (source.passage.heading_path.at(-1) ?? source.passage.title).trim();
		if (name !== '' && name.length <= MAX_TOPIC_CHARACTERS) names.add(name);
		if (names.size >= MAX_TOPICS) break;
	}
	return names.size === 0 ? '' : phrases.nearest(renderNames([...names], phrases.separator));
}
