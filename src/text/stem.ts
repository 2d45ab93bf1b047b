import snowball from 'snowball-stemmers';

/** Snowball's algorithms by ISO 639-1. `english` is Porter2. */
const ALGORITHMS: Record<string, string> = {
	ar: 'arabic',
	hy: 'armenian',
	eu: 'basque',
	ca: 'catalan',
	cs: 'czech',
	da: 'danish',
	nl: 'dutch',
	en: 'english',
	fi: 'finnish',
	fr: 'french',
	de: 'german',
	hu: 'hungarian',
	it: 'italian',
	ga: 'irish',
	nb: 'norwegian',
	nn: 'norwegian',
	no: 'norwegian',
	pt: 'portuguese',
	ro: 'romanian',
	ru: 'russian',
	sl: 'slovene',
	es: 'spanish',
	sv: 'swedish',
	ta: 'tamil',
	tr: 'turkish',
};

/** Words repeat, and a cached stem costs a twentieth of a computed one. */
const STEM_CACHE_SIZE = 50_000;

const stemmers = new Map<string, (word: string) => string>();

/** The stemmer of a language (ISO 639-1). It returns words unchanged for null and for a language without stemmer. */
export function stemmerOf(language: string | null): (word: string) => string {
	const algorithm = language === null ? undefined : ALGORITHMS[language];
	if (algorithm === undefined) return (word) => word;
	let stemmer = stemmers.get(algorithm);
	if (stemmer === undefined) {
		stemmer = memoised(snowball.newStemmer(algorithm));
		stemmers.set(algorithm, stemmer);
	}
	return stemmer;
}

function memoised(stemmer: snowball.Stemmer): (word: string) => string {
	let cache = new Map<string, string>();
	return (word) => {
		let stem = cache.get(word);
		if (stem === undefined) {
			if (cache.size === STEM_CACHE_SIZE) cache = new Map();
			// A stem may be empty or contain a mark of the stemmer: then the word itself is the term.
			stem = stemmer.stem(word);
			if (!/^[\p{L}\p{N}][\p{L}\p{N}\p{M}]*$/u.test(stem)) stem = word;
			cache.set(word, stem);
		}
		return stem;
	};
}
