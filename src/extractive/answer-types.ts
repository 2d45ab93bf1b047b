import type { SpokenLanguage } from './phrases.ts';

/** What a question expects its answer to contain. */
export type AnswerType = 'steps' | 'time' | 'amount' | 'person' | 'place';

/** The words by which each language asks for each type; matched against the question in lower case. */
const ANSWER_TYPE_CUES: Record<SpokenLanguage, Record<AnswerType, RegExp>> = {
	en: {
		steps:
			/\bhow (to|(do|does|can|could|should|would|may|must) (i|we|you|one|people|someone))\b|\bsteps?\b|\bprocedure\b/,
		time: /\bwhen\b|\bwhat time\b|\b(what|which) (day|date)|\bdeadline|\bhow (late|long|often)\b|\bhours\b/,
		amount: /\bhow (many|much|long|often|high|large|big|old|far|expensive)\b|\b(cost|price|fee|salary|limit|rate)s?\b/,
		person: /\bwho(m|se)?\b/,
		place: /\bwhere\b|\baddress\b|\bwhat (city|country|building|room|floor)\b/,
	},
	de: {
		steps: /\bwie (?!viel|lang|oft|hoch|groß|alt|weit|teuer|spät|heißt)|\bschritte?\b/,
		time: /\bwann\b|uhrzeit|\bfrist\b|\bwie (spät|lange|oft)\b|\bwelche[mnr]? tag|öffnungszeiten/,
		amount: /\bwie ?(viele?[rn]?|hoch|groß|lange?|oft|alt|weit|teuer)\b|kosten?\b|kostet|\bpreis|gebühr/,
		person: /\bwe(r|n|m|ssen)\b/,
		place: /\bwo(hin|her)?\b|adresse/,
	},
	fr: {
		steps: /\bcomment\b|étapes?\b|procédure/,
		time: /\bquand\b|quelle heure|quel(le)? (jour|date)|horaires?\b|délai|combien de temps/,
		amount: /\bcombien\b|coût|coûte|\bprix\b|tarif|montant/,
		person: /\bqui\b/,
		place: /(^|\s)où\b|adresse/,
	},
	es: {
		steps: /\bc[óo]mo\b|\bpasos?\b|procedimiento/,
		time: /\bcu[áa]ndo\b|qu[ée] hora|qu[ée] (d[íi]a|fecha)|horarios?\b|plazo|cu[áa]nto tiempo/,
		amount: /\bcu[áa]nt[oa]s?\b|cuesta|precio|\bcoste?\b|tarifa|importe/,
		person: /\bqui[ée]n(es)?\b/,
		place: /\b(a)?d[óo]nde\b|direcci[óo]n/,
	},
	nl: {
		steps: /\bhoe (?!veel|lang|vaak|hoog|groot|oud|ver|duur|laat)|stappen\b/,
		time: /\bwanneer\b|\bhoe (laat|lang|vaak)\b|\bwelke (dag|datum)|openingstijden|deadline/,
		amount: /\bhoeveel\b|\bhoe (veel|hoog|groot|oud|ver|duur|lang|vaak)\b|\bkost(en)?\b|prijs|tarief/,
		person: /\bwie\b/,
		place: /\bwaar(heen)?\b|adres/,
	},
	pt: {
		steps: /\bcomo\b|\bpassos?\b|procedimento/,
		time: /\bquando\b|que horas|que (dia|data)|hor[áa]rios?\b|prazo|quanto tempo/,
		amount: /\bquant[oa]s?\b|custa|pre[çc]o|custo|tarifa|valor/,
		person: /\bquem\b/,
		place: /\b(a)?onde\b|endereço/,
	},
	it: {
		steps: /\bcome\b|\bpassaggi\b|procedura/,
		time: /\bquando\b|che ora|(che|quale) (giorno|data)|orari\b|scadenza|quanto tempo/,
		amount: /\bquant[oiae]\b|costa\b|costano|prezzo|costo|tariffa|importo/,
		person: /\bchi\b/,
		place: /\bdov['e]|indirizzo/,
	},
	ja: {
		steps: /どうやって|どうすれば|方法|手順|やり方|どのように/,
		time: /いつ|何時|何曜日|何日|期限|締め切り/,
		amount: /何[日人円個回年歳名台件]|何時間|何[かヶカ]月|いくら|いくつ|どのくらい|どれくらい|料金/,
		person: /誰|だれ|どなた/,
		place: /どこ|どちら|住所|場所/,
	},
	ar: {
		steps: /كيف|خطوات|طريقة/,
		time: /متى|أي ساعة|موعد|كم من الوقت/,
		amount: /(^|\s)كم(\s|$)|تكلفة|سعر|رسوم/,
		person: /^\s*من\s/,
		place: /(^|\s)(أين|عنوان)/,
	},
};

/** The types of answer that a question asks for; none for most yes-or-no questions. */
export function expectedAnswerTypes(question: string, language: SpokenLanguage): Set<AnswerType> {
	const text = question.toLowerCase();
	const kinds = Object.entries(ANSWER_TYPE_CUES[language]) as Array<[AnswerType, RegExp]>;
	return new Set(kinds.filter(([, cue]) => cue.test(text)).map(([kind]) => kind));
}

/** How each spaced language asks for a number of things. The group matches the things. */
const COUNT_QUESTIONS: Partial<Record<SpokenLanguage, RegExp>> = {
	en: /\bhow many (\p{L}+)/u,
	de: /\bwie ?viele?[rn]? (\p{L}+)/u,
	fr: /\bcombien (?:de |d['’])(\p{L}+)/u,
	es: /\bcu[áa]nt[oa]s (\p{L}+)/u,
	nl: /\bhoeveel (\p{L}+)/u,
	pt: /\bquant[oa]s (\p{L}+)/u,
	it: /\bquant[ie] (\p{L}+)/u,
};

/**
 * The pattern that finds the number a question asks for: "how many days" is answered by a number before "days". Null if the
 * question asks for no number.
 */
export function countPattern(question: string, language: SpokenLanguage): RegExp | null {
	const noun = COUNT_QUESTIONS[language]?.exec(question.toLowerCase())?.[1];
	if (noun === undefined) return null;
	const numbers = `\\p{Nd}+|${NUMBER_WORDS.flatMap((list) => list.split(' ')).join('|')}`;
	return new RegExp(`(?<![\\p{L}\\p{N}])(?:${numbers})\\s+(?:\\p{L}+\\s+)?${noun}(?![\\p{L}\\p{N}])`, 'iu');
}

const LANGUAGES = Object.keys(ANSWER_TYPE_CUES);
/** Numbers that are written as words. */
const NUMBER_WORDS = [
	'one two three four five six seven eight nine ten twelve twenty thirty once twice half',
	'zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig dreißig einmal zweimal halb',
	'deux trois quatre cinq six sept huit neuf dix douze vingt trente quinze moitié',
	'dos tres cuatro cinco seis siete ocho nueve diez doce veinte treinta quince mitad',
	'twee drie vier vijf zes zeven acht negen tien twaalf twintig dertig helft',
	'dois duas três quatro cinco seis sete oito nove dez doze vinte trinta quinze metade',
	'due tre quattro cinque sei sette otto nove dieci dodici venti trenta quindici metà',
];

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

const HAS_DIGIT = /\p{Nd}|[一二三四五六七八九十百千]+[日人円個回年歳名月時分割%％]/u;
const HAS_CLOCK =
	/\p{Nd}{1,2}[:.h]\p{Nd}{2}|\p{Nd}\s?(am|pm|a\.m\.|p\.m\.|uhr|heures|uur|時)|\p{Nd}{1,4}[-/.]\p{Nd}{1,2}[-/.]\p{Nd}{1,4}/iu;
const HAS_NAME = /\S\s+\p{Lu}\p{L}+|@|さん|様|部|課|担当/u;
const HAS_PLACE = /\S\s+\p{Lu}\p{L}+|https?:|www\.|\p{Nd}|階|室|駅|市/u;
const HAS_COUNT = wordPattern(NUMBER_WORDS.flatMap((list) => list.split(' ')));
/** Made on first use, because the platform then loads the data of each language. */
let calendar: RegExp | undefined;

/** Whether a text has what an answer of this type contains. Steps are recognised by the form of a list instead. */
export function matchesAnswerType(text: string, kind: AnswerType): boolean {
	switch (kind) {
		case 'steps':
			return false;
		case 'time':
			return HAS_CLOCK.test(text) || calendarPattern().test(text);
		case 'amount':
			return HAS_DIGIT.test(text) || HAS_COUNT.test(text);
		case 'person':
			return HAS_NAME.test(text);
		case 'place':
			return HAS_PLACE.test(text);
	}
}

function calendarPattern(): RegExp {
	calendar ??= wordPattern([...LANGUAGES.flatMap(calendarWords), ...LANGUAGES.flatMap(timeUnits)]);
	return calendar;
}

/** The names of months and days, from the platform's own data. */
function calendarWords(language: string): string[] {
	const month = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
	const day = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
	const months = Array.from({ length: 12 }, (_, i) => month.format(Date.UTC(2024, i, 15)));
	const days = Array.from({ length: 7 }, (_, i) => day.format(Date.UTC(2024, 0, 1 + i)));
	// The pattern handles plurals in -s: `Mondays`, `lunes`.
	return [...months, ...days];
}

/** The units of durations, singular and plural: `days`, `Tage`, `heures`. */
function timeUnits(language: string): string[] {
	return ['minute', 'hour', 'day', 'week', 'month', 'year'].flatMap((unit) => {
		const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
		return [1, 2].map((count) => {
			const parts = format.formatToParts(count).filter((part) => part.type === 'unit');
			return parts
				.map((part) => part.value)
				.join('')
				.trim();
		});
	});
}

function wordPattern(list: string[]): RegExp {
	const escaped = [...new Set(list)].filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
	const spaced = escaped.filter((word) => !UNSPACED.test(word));
	const unspaced = escaped.filter((word) => UNSPACED.test(word));
	const alternatives = [`(?<![\\p{L}\\p{N}])(?:${spaced.join('|')})s?(?![\\p{L}\\p{N}])`, ...unspaced];
	return new RegExp(alternatives.join('|'), 'iu');
}
