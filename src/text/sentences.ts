/** One sentence and its position: `text` equals `source.slice(start, end)`, without white space around it. */
export interface Sentence {
	text: string;
	start: number;
	end: number;
}

/** The segmenter's cost grows with the square of what it is given; a window of a few paragraphs keeps it linear. */
const SEGMENTER_WINDOW_CHARS = 3000;

/** Abbreviations that precede another word: their dot never ends a sentence. */
const ABBREVIATIONS_BEFORE_WORD = wordSet(`
	dr mr mrs ms prof st sr jr rev hon gen col capt lt sgt messrs mme mlle mgr ing dipl
	e.g i.e eg ie cf vs viz esp approx resp incl excl ca al
	z.b d.h u.a z.t bzw vgl sog ggf evtl inkl exkl zzgl dt engl hrsg
	p.ex c.-à-d env sra srta ud uds p.ej sig dott avv bv m.b.t d.w.z bijv т.е т.к
`);

/** Abbreviations that belong to a number or letter: "No. 5", "Fig. B", "S. 12". */
const ABBREVIATIONS_BEFORE_NUMBER = wordSet(`
	no nos nr num fig figs eq eqs sec sect ch chap vol vols p pp art arts par para tab ex app ver ed
	jan feb mar apr jun jul aug sep sept oct nov dec s abs abb bd kap ziff art rz núm núms pág págs cap n° стр рис гл
`);

/** Words that begin a new sentence far more often than they follow an initial or "U.S.". */
const SENTENCE_STARTERS = wordSet(`
	the a an this that these those he she it we they you i in on at for from as if when while but and or so then there
	however after before since although because its his her their our your what who where why how is are was were
	der die das ein eine er sie es wir ihr ich in im am auf für mit wenn aber und dann da le la les un une il elle
	ils nous vous dans el los las una en il lo gli
`);

/** Languages that write ordinals with a dot: "am 3. Oktober", "die 1. Auflage". */
const DOTTED_ORDINALS = new Set([
	'de',
	'da',
	'nb',
	'nn',
	'no',
	'fi',
	'cs',
	'sk',
	'sl',
	'hr',
	'bs',
	'sr',
	'hu',
	'et',
	'lv',
]);
const WORDS_BEFORE_ORDINAL = wordSet(
	'der die das den dem des am vom zum im beim bis ab seit jeder jede jedes den d dne',
);

const SENTENCE_END = /[\p{Sentence_Terminal}\u0085\u2028\u2029]/u;

const segmenters = new Map<string, Intl.Segmenter>();
const months = new Map<string, ReadonlySet<string>>();

/**
 * The sentences of a text, in order. The end of a line ends a sentence too. Dots within a sentence ("e.g.", "Dr.",
 * "No. 5", "J. Smith", "3. Oktober", the number of a list item) do not end it.
 * @param language ISO 639-1; null where unknown
 */
export function sentences(text: string, language: string | null): Sentence[] {
	const segmenter = segmenterOf(language);
	const found: Sentence[] = [];
	let lineStart = 0;
	while (lineStart < text.length) {
		const newline = text.indexOf('\n', lineStart);
		const lineEnd = newline === -1 ? text.length : newline;
		let sentenceStart = lineStart;
		for (const end of boundaries(text, lineStart, lineEnd, segmenter)) {
			if (end < lineEnd && !isSentenceEnd(text.slice(sentenceStart, end), text.slice(end, end + 40), language))
				continue;
			addTrimmed(found, text, sentenceStart, end);
			sentenceStart = end;
		}
		lineStart = lineEnd + 1;
	}
	return found;
}

/** The ends that the segmenter finds within one line, window by window. A sentence that a window cuts off starts the next window. */
function* boundaries(text: string, from: number, to: number, segmenter: Intl.Segmenter): Generator<number> {
	// Most lines of lists, tables and code have no character that could end a sentence.
	if (!SENTENCE_END.test(text.slice(from, to - 1))) {
		yield to;
		return;
	}
	let at = from;
	while (at < to) {
		let cut = Math.min(to, at + SEGMENTER_WINDOW_CHARS);
		if (cut < to && /[\ud800-\udbff]/.test(text.charAt(cut - 1))) cut--;
		const ends: number[] = [];
		for (const segment of segmenter.segment(text.slice(at, cut)))
			ends.push(at + segment.index + segment.segment.length);
		if (cut < to && ends.length > 1) ends.pop();
		yield* ends;
		at = ends.at(-1) ?? to;
	}
}

function addTrimmed(found: Sentence[], text: string, from: number, to: number): void {
	const raw = text.slice(from, to);
	const trimmed = raw.trim();
	if (trimmed === '') return;
	const start = from + raw.indexOf(trimmed);
	found.push({ text: trimmed, start, end: start + trimmed.length });
}

const LIST_NUMBER = /^\s*[([]?(?:\d{1,3}|\p{L}|[ivx]{1,5})[.)]+\s*$/iu;
const LAST_WORD = /(?:^|[\s([{"'„“‚‘«/])([^\s([{"'„“‚‘«/]+)\.\s*$/u;
const INITIALS = /^(?:\p{Lu}\.)*\p{Lu}$/u;

/** Whether a boundary of the segmenter between `before` and `after` ends a sentence. */
function isSentenceEnd(before: string, after: string, language: string | null): boolean {
	if (LIST_NUMBER.test(before)) return false;
	const match = LAST_WORD.exec(before.slice(-60));
	const word = match?.[1];
	if (word === undefined) return true;
	const lower = word.toLowerCase();
	if (ABBREVIATIONS_BEFORE_WORD.has(lower)) return false;
	if (ABBREVIATIONS_BEFORE_NUMBER.has(lower) && /^[\d(]|^[A-Z]\b|^[IVX]+\b/.test(after)) return false;
	const next = /^\p{L}+/u.exec(after)?.[0];
	if (next === undefined) return true;
	// "z. B.", "d. h.", "p. ex.": a lower-case letter alone is half an abbreviation.
	if (/^\p{Ll}$/u.test(word) && /^\p{L}{1,3}\./u.test(after)) return false;
	if (INITIALS.test(word)) return SENTENCE_STARTERS.has(next.toLowerCase());
	if (/^\d{1,2}$/.test(word) && language !== null && DOTTED_ORDINALS.has(language)) {
		const lead = before.slice(0, before.lastIndexOf(word)).trimEnd().split(/\s/).at(-1) ?? '';
		return !(WORDS_BEFORE_ORDINAL.has(lead.toLowerCase()) || monthsOf(language).has(next.toLowerCase()));
	}
	return true;
}

function segmenterOf(language: string | null): Intl.Segmenter {
	const key = language ?? 'und';
	let segmenter = segmenters.get(key);
	if (segmenter === undefined) {
		segmenter = new Intl.Segmenter(key, { granularity: 'sentence' });
		segmenters.set(key, segmenter);
	}
	return segmenter;
}

/** The language's month names in the form that follows a day. */
function monthsOf(language: string): ReadonlySet<string> {
	let names = months.get(language);
	if (names === undefined) {
		const format = new Intl.DateTimeFormat(language, { month: 'long', day: 'numeric', timeZone: 'UTC' });
		names = new Set(
			Array.from({ length: 12 }, (_, month) => {
				const parts = format.formatToParts(Date.UTC(2024, month, 3));
				return (parts.find((part) => part.type === 'month')?.value ?? '').toLowerCase();
			}),
		);
		months.set(language, names);
	}
	return names;
}

function wordSet(list: string): ReadonlySet<string> {
	return new Set(list.trim().split(/\s+/));
}
