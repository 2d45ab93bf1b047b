import { words } from '../../text/index.ts';

/** A hit of a search, as far as it is compared with others. */
interface ComparedPassage {
	document_id: string;
	text: string;
	/** How well it matches, 0..1. */
	score: number;
}

/** Words that are compared together. */
const SHINGLE_WORDS = 3;
/** The share of common shingles from which two texts say the same. */
const DUPLICATE_SHARE = 0.8;
/** Passages of one document, as a share of all, beyond which other documents come first. */
const MAX_DOCUMENT_SHARE = 0.5;
const MIN_DOCUMENT_PASSAGES = 2;
/** A passage with a smaller share of the best score does not come before another passage of the same document. */
const MIN_SCORE_SHARE = 0.6;

/**
 * Chooses the passages for a prompt: no text twice, and not all of one document where others match about as well.
 * @param hits best first
 * @returns at most `limit`, best first
 */
export function distinctPassages<Hit extends ComparedPassage>(hits: readonly Hit[], limit: number): Hit[] {
	const unique = withoutDuplicates(hits, limit);
	const minScore = MIN_SCORE_SHARE * (hits[0]?.score ?? 0);
	const maxOfDocument = Math.max(MIN_DOCUMENT_PASSAGES, Math.ceil(MAX_DOCUMENT_SHARE * limit));
	const counts = new Map<string, number>();
	const first: Hit[] = [];
	const later: Hit[] = [];
	for (const hit of unique) {
		const count = (counts.get(hit.document_id) ?? 0) + 1;
		counts.set(hit.document_id, count);
		(count <= maxOfDocument && hit.score >= minScore ? first : later).push(hit);
	}
	return [...first, ...later].slice(0, limit).sort((a, b) => b.score - a.score);
}

/** The hits whose text is not the text of a better one. Copies with other numbers, such as another year's prices, stay. */
function withoutDuplicates<Hit extends ComparedPassage>(hits: readonly Hit[], limit: number): Hit[] {
	const kept: Array<{ hit: Hit; shingles: Set<string>; numbers: string }> = [];
	for (const hit of hits) {
		const all = words(hit.text);
		const numbers = all.filter((word) => /\p{N}/u.test(word)).join(' ');
		const shingles = shinglesOf(all);
		// Each hit is compared with at most twice as many as are wanted.
		const compared = kept.slice(0, 2 * limit);
		if (compared.some((other) => other.numbers === numbers && overlap(other.shingles, shingles) >= DUPLICATE_SHARE)) {
			continue;
		}
		kept.push({ hit, shingles, numbers });
	}
	return kept.map(({ hit }) => hit);
}

function shinglesOf(all: readonly string[]): Set<string> {
	const count = Math.max(1, all.length - SHINGLE_WORDS + 1);
	return new Set(Array.from({ length: count }, (_, at) => all.slice(at, at + SHINGLE_WORDS).join(' ')));
}

/** The common shingles as a share of all. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
	let common = 0;
	for (const shingle of a) if (b.has(shingle)) common++;
	return common / (a.size + b.size - common);
}
