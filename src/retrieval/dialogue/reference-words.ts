import { words } from '../../text/index.ts';

/** Words with which a message points to the messages before it, normalised. */
export interface ReferenceWords {
	/** Stand for something that was named before: `it`, `davon`. */
	pronouns: ReadonlySet<string>;
	/** The same before the first content word of a sentence only; elsewhere they are articles or conjunctions. */
	leading: ReadonlySet<string>;
	/** The same as the last word of a sentence only. */
	final: ReadonlySet<string>;
	/** Compare with something that was named before: `other`, `same`. */
	comparisons: ReadonlySet<string>;
	/** The beginning of a message that continues the one before: `and for …`, `what about …`. */
	opening: RegExp;
}

const NONE: ReadonlySet<string> = new Set();
const set = (list: string): ReadonlySet<string> => new Set(words(list));
const opening = (phrases: string) => new RegExp(`^[\\s\\p{P}]*(?:${phrases})(?![\\p{L}\\p{N}])`, 'iu');

/**
 * The Arabic `و` (and) is written together with the next word, and many other words begin with the same letter. So it counts
 * only alone, before words that begin a question, and before the article.
 */
const ARABIC_AND = 'و|و(?:هل|كم|كيف|متى|[أا]ين|من|ما|ماذا|لماذا|لكن|في|عن|مع|[إا]لى|على|بالنسبة)|و(?:ال|لل)\\p{L}{3,}';

/** By language (ISO 639-1): those of the widget. */
const REFERENCE_WORDS: Record<string, ReferenceWords> = {
	en: {
		pronouns: set('it its they them their theirs he she his her hers him this these those'),
		leading: set('that'),
		final: set('that there'),
		comparisons: set('other others another else one ones same more'),
		opening: opening('and|or|but|also|so|then|what about|how about|what if|i mean|i meant'),
	},
	de: {
		pronouns: set(
			'er ihn ihm dies diese diesen diesem dieser dieses jene jenen dafür davon dazu damit darüber daran darauf darin daraus dabei dagegen dort deren dessen denen',
		),
		leading: NONE,
		final: set('das die den der es sie'),
		comparisons: set('andere anderen anderer anderes anderem sonst weitere weiteren mehr gleiche gleichen'),
		opening: opening('und|oder|aber|auch|also|dann|was ist mit|wie sieht es|wie ist es mit|ich meine|ich meinte'),
	},
	fr: {
		pronouns: set('elle elles ils celui celle ceux celles cela ça ceci lui leur leurs dessus dedans ce cet cette ces'),
		leading: NONE,
		final: set('il là'),
		comparisons: set('autre autres même mêmes sinon'),
		opening: opening("et|ou|mais|aussi|alors|donc|qu['’]en est-il|je veux dire|je voulais dire"),
	},
	es: {
		pronouns: set('ella ello ellos ellas eso esto aquello ese esa esos esas este esta estos estas'),
		leading: NONE,
		final: set('ahí allí'),
		comparisons: set('otro otra otros otras mismo misma más'),
		opening: opening('y|e|o|pero|también|entonces|qué hay|qué tal|qué pasa con|quiero decir|quise decir'),
	},
	pt: {
		pronouns: set(
			'ele ela eles elas isso isto aquilo disso disto nisso dele dela deles delas esse essa esses essas este esta estes estas',
		),
		leading: NONE,
		final: set('lá aí'),
		comparisons: set('outro outra outros outras mesmo mesma mais'),
		opening: opening('e|ou|mas|também|então|e quanto|quero dizer|quis dizer'),
	},
	nl: {
		pronouns: set(
			'hij hem ze haar hun hen dit deze daarvoor daarvan daarmee daarover daarbij daarin ervan ervoor ermee erover erbij',
		),
		leading: set('dat'),
		final: set('dat die het daar'),
		comparisons: set('ander andere anders nog meer dezelfde hetzelfde'),
		opening: opening('en|of|maar|ook|dus|dan|hoe zit|wat is er met|ik bedoel|ik bedoelde'),
	},
	ja: {
		pronouns: set('それ これ あれ その この あの そこ ここ そちら こちら 彼 彼女 それら これら'),
		leading: NONE,
		final: NONE,
		comparisons: set('他 ほか 別 同じ'),
		opening: /^\s*(?:では|じゃあ|それで|それなら|なら|また|あと|つまり)/u,
	},
	ar: {
		pronouns: set('هو هي هم هن هذا هذه ذلك تلك هؤلاء'),
		leading: NONE,
		final: set('هناك'),
		comparisons: set('آخر أخرى غير نفس'),
		opening: opening(`${ARABIC_AND}|أو|لكن|ماذا عن|أقصد`),
	},
};

/** The languages that have such words. */
export const REFERENCE_LANGUAGES: readonly string[] = Object.keys(REFERENCE_WORDS);

/** The words of a language; undefined if there are none. */
export function referenceWordsOf(language: string | null): ReferenceWords | undefined {
	return language === null ? undefined : REFERENCE_WORDS[language];
}
