import type { SpokenLanguage } from '../spoken-language.ts';

/** The words of a comparison in one language. */
interface ComparisonWords {
	/** They begin the question or a part of it. */
	openings: ReadonlySet<string>;
	/** They compare, and stand after an opening. */
	comparatives: ReadonlySet<string>;
	/** A comparative that is not the last word needs one of them after it; null if it needs none. */
	links: ReadonlySet<string> | null;
}

/** Longer messages have their question at the end. */
const MAX_WORDS = 60;

const setOf = (...lists: string[]) => new Set(lists.flatMap((list) => list.split(' ')));

const COMPARISONS: Partial<Record<SpokenLanguage, ComparisonWords>> = {
	en: {
		openings: setOf('which what who is are does do'),
		comparatives: setOf(
			'more less most least same difference better best worse worst fewer fewest cheaper cheapest dearer dearest pricier',
			'faster fastest slower slowest quicker quickest longer longest shorter shortest bigger biggest larger largest smaller',
			'smallest heavier heaviest lighter lightest higher highest lower lowest quieter quietest louder loudest wider widest',
			'narrower narrowest deeper deepest taller tallest older oldest younger youngest newer newest earlier earliest later latest',
			'stronger strongest weaker weakest warmer warmest colder coldest hotter hottest cooler coolest closer closest nearer',
			'nearest farther further furthest greater greatest safer safest softer softest harder hardest thicker thickest thinner',
			'thinnest easier easiest simpler simplest stricter strictest richer finer coarser brighter brightest darker darkest',
		),
		links: setOf('or than between of'),
	},
	de: {
		openings: setOf('welche welcher welches welchen welchem was wer ist sind unterschied'),
		comparatives: setOf(
			'mehr weniger besser schlechter billiger günstiger teurer schneller langsamer länger kürzer größer kleiner schwerer leichter',
			'höher niedriger tiefer leiser lauter breiter schmaler älter jünger neuer früher später stärker schwächer wärmer kälter näher',
			'weiter dicker dünner härter weicher heller dunkler einfacher sicherer strenger höhere niedrigere größere kleinere längere',
			'kürzere günstigere teurere schnellere bessere besten meisten wenigsten billigsten günstigsten teuersten schnellsten langsamsten',
			'längsten kürzesten größten kleinsten schwersten leichtesten höchsten niedrigsten tiefsten leisesten lautesten breitesten ältesten',
			'jüngsten neuesten frühesten spätesten stärksten wärmsten kältesten nächsten unterschied',
		),
		links: null,
	},
	fr: {
		openings: setOf('lequel laquelle lesquels lesquelles quel quelle quels quelles qui est sont'),
		comparatives: setOf('plus moins différence meilleur meilleure pire'),
		links: null,
	},
};

/** Whether a question compares things: `Is A or B longer?`, `Which of the two is cheaper?` */
export function asksComparison(question: string, language: SpokenLanguage): boolean {
	const words = COMPARISONS[language];
	if (words === undefined) return false;
	const { openings, comparatives, links } = words;
	const found = (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(-MAX_WORDS);
	const opening = found.findIndex((word) => openings.has(word));
	const comparative = found.findIndex((word, at) => opening >= 0 && at > opening && comparatives.has(word));
	if (comparative < 0) return false;
	return (
		links === null ||
		comparatives.has(found.at(-1) as string) ||
		found.slice(comparative).some((word) => links.has(word))
	);
}
