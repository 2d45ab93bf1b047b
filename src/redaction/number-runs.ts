/** Groups of digits with what people write between them in phone and card numbers. */
export interface NumberRun {
	start: number;
	groups: DigitGroup[];
}

export interface DigitGroup {
	start: number;
	end: number;
	digits: string;
	/** What is between this group and the one before; of the first, what opens the run: `+`, `(`, `+(`. */
	before: string;
}

/** Every alternative begins with a different character or ends at a digit, so a run is matched in linear time. */
const RUN = /(?:\+ ?\(?|\()?\d+(?:(?: ?[-/] ?|\) ?[-/]? ?|[- ]?\(| {1,2}|\.)\d+)*/g;
const GROUP = /(\D*)(\d+)/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b/g;
const MIN_IBAN_CHARS = 15;

/** The numbers in a text with all that may belong to them. The text of an IBAN is left out. */
export function* numberRuns(text: string): Generator<NumberRun> {
	const ibans = [...text.matchAll(IBAN)].filter(([iban]) => iban.replaceAll(' ', '').length >= MIN_IBAN_CHARS);
	let next = 0;
	for (const { 0: run, index: start } of text.matchAll(RUN)) {
		while (next < ibans.length && endOf(ibans[next] as RegExpMatchArray) <= start) next++;
		const iban = ibans[next];
		if (iban?.index !== undefined && iban.index < start + run.length) continue;
		yield { start, groups: groupsOf(run, start) };
	}
}

function endOf({ 0: text, index = 0 }: RegExpMatchArray): number {
	return index + text.length;
}

function groupsOf(run: string, start: number): DigitGroup[] {
	return Array.from(run.matchAll(GROUP), ({ 0: whole, 1: before = '', 2: digits = '', index }) => ({
		start: start + index + before.length,
		end: start + index + whole.length,
		digits,
		before,
	}));
}

/** The number of digits of groups. */
export function digitCount(groups: readonly DigitGroup[]): number {
	return groups.reduce((sum, { digits }) => sum + digits.length, 0);
}

export function digitsOf(groups: readonly DigitGroup[]): string {
	return groups.map(({ digits }) => digits).join('');
}
