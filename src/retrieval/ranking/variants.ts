import {
	type Acronym,
	definedAcronyms,
	generalVariants,
	type QueryWord,
	type SpellingVariants,
	variantsOf,
	withVariants,
} from '../../text/index.ts';
import type { Basis } from '../semantic/index.ts';

/** What is read of the index of a generation. */
interface AcronymIndex {
	languages: ReadonlyArray<string | null>;
	semantic: { basis: Basis } | object | null;
	chunksWith(term: string): number;
	keyword(terms: readonly string[], limit: number): Array<{ id: number }>;
	texts(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** An acronym has at most as many letters. */
const MAX_ACRONYM_LENGTH = 5;
const MIN_ACRONYM_LENGTH = 2;
const MAX_LONG_WORDS = 5;
/** A term in more chunks is a word. It also bounds the cost of reading its chunks. */
const MAX_CHUNKS_WITH_ACRONYM = 50;
/** A longer text is a pasted page. */
const MAX_WORDS = 40;
/** Terms that are looked up, and chunks that are read for each. */
const MAX_LOOKUPS = 6;
const CHUNKS_PER_LOOKUP = 3;

/**
 * The words of a question with their other spellings: general acronyms and abbreviations, and the acronyms that the chunks with
 * them define, as in `United Kingdom (UK)`.
 */
export async function withSpellings(words: readonly QueryWord[], index: AcronymIndex): Promise<readonly QueryWord[]> {
	const languages = [...new Set(index.languages)];
	const lists: SpellingVariants[] = languages.map(generalVariants);
	const defined = await acronymsOf(words, index);
	if (defined.length > 0) lists.push(...languages.map((language) => variantsOf(defined, language)));
	return withVariants(words, lists);
}

async function acronymsOf(words: readonly QueryWord[], index: AcronymIndex): Promise<Acronym[]> {
	if (words.length > MAX_WORDS) return [];
	const candidates = new Set<string>();
	for (const { stems } of words) {
		for (const stem of stems) if (isShort(stem)) candidates.add(stem);
	}
	const initials = words.map(({ stems }) => stems[0]?.[0] ?? '');
	for (let from = 0; from < words.length; from++) {
		for (let count = MIN_ACRONYM_LENGTH; count <= MAX_LONG_WORDS && from + count <= words.length; count++)
			candidates.add(initials.slice(from, from + count).join(''));
	}
	const rare = [...candidates]
		.filter((candidate) => isKnown(candidate, index))
		.map((candidate) => ({ candidate, chunks: index.chunksWith(candidate) }))
		.filter(({ chunks }) => chunks > 0 && chunks <= MAX_CHUNKS_WITH_ACRONYM)
		.sort((a, b) => a.chunks - b.chunks);
	if (rare.length === 0) return [];
	const lookups = rare.slice(0, MAX_LOOKUPS).map(({ candidate }) => ({
		candidate,
		ids: index.keyword([candidate], CHUNKS_PER_LOOKUP).map(({ id }) => id),
	}));
	const texts = await index.texts([...new Set(lookups.flatMap(({ ids }) => ids))]);
	return lookups.flatMap(({ candidate, ids }) =>
		ids.flatMap((id) => definedAcronyms(texts.get(id) ?? '')).filter(({ short }) => short.toLowerCase() === candidate),
	);
}

/** From the basis where there is one, because that needs no read of the index. It lacks terms of a single chunk, which has both forms. */
function isKnown(term: string, { semantic, chunksWith }: AcronymIndex): boolean {
	return semantic !== null && 'basis' in semantic ? semantic.basis.vocabulary.has(term) : chunksWith(term) > 0;
}

function isShort(stem: string): boolean {
	return stem.length >= MIN_ACRONYM_LENGTH && stem.length <= MAX_ACRONYM_LENGTH && /^\p{L}[\p{L}\p{Nd}]+$/u.test(stem);
}
