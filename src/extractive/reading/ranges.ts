/**
 * Numbers with a unit, as in `4 to 15 years`, `20 kg and more`, `under 16 degrees`. Both ends belong to it. A range of hours whose
 * end is before its beginning goes over midnight.
 */
export interface NumberRange {
	from: number;
	to: number;
	/** The first letters of the unit, in lower case: `yea`, `kg`, `%`. */
	unit: string;
}

const NUMBER = '(\\p{Nd}{1,6}(?:[.,]\\p{Nd}{1,3})?)';
const UNIT = '\\s?(%|°|\\p{L}{1,12})?';
const BETWEEN = new RegExp(
	`${NUMBER}${UNIT}\\s?(?:-|–|—|to|bis|à|a|e|tot|até|and|und|et)\\s(?:(?:below|under|unter|zu)\\s)?${NUMBER}${UNIT}|${NUMBER}${UNIT}[-–]${NUMBER}${UNIT}`,
	'giu',
);
const LOWER = new RegExp(
	`(?<!\\p{L})(?:ab|from|dès|à partir de|at least|mindestens|over|above|more than|über|mehr als|plus de|desde|vanaf|a partir de|a partire da|da)\\s${NUMBER}${UNIT}|${NUMBER}${UNIT}\\s(?:und mehr|and more|or more|and over|et plus|ou plus|oder mehr|y más|en meer|e mais|e più)`,
	'giu',
);
const UPPER = new RegExp(
	`(?<!\\p{L})(?:unter|under|below|less than|weniger als|moins de|bis zu|bis|up to|jusqu'à|jusqu’à|menos de|minder dan|tot|até|fino a|meno di)\\s${NUMBER}${UNIT}`,
	'giu',
);
const HOURS = /^(?:h|uhr|heu|hou|am|pm|uur|ora|hor)$/;
const QUANTITY = new RegExp(`(?<![\\p{L}\\p{N}.,])${NUMBER}\\s?(%|°|\\p{L}{1,12})`, 'giu');

/** The ranges in the name of a row or column. */
export function rangesIn(text: string): NumberRange[] {
	if (!/\p{Nd}/u.test(text)) return [];
	const found: NumberRange[] = [];
	for (const match of text.matchAll(BETWEEN)) {
		const [a, unitOfA, b, unitOfB] = match.slice(1, 5).some(Boolean) ? match.slice(1, 5) : match.slice(5, 9);
		const unit = unitOf(unitOfB ?? unitOfA);
		const ends = [numberOf(a), numberOf(b)] as [number, number];
		const [from, to] = HOURS.test(unit) ? ends : [Math.min(...ends), Math.max(...ends)];
		if (unit !== '') found.push({ from, to, unit });
	}
	if (found.length > 0) return found;
	for (const [, a, unitOfA, b, unitOfB] of text.matchAll(LOWER)) {
		const unit = unitOf(unitOfA ?? unitOfB);
		if (unit !== '') found.push({ from: numberOf(a ?? b), to: Number.POSITIVE_INFINITY, unit });
	}
	for (const [, a, unitOfA] of text.matchAll(UPPER)) {
		const unit = unitOf(unitOfA);
		if (unit !== '') found.push({ from: 0, to: numberOf(a), unit });
	}
	return found;
}

/** The numbers with a unit that a question names. */
export function quantitiesIn(text: string): Array<{ value: number; unit: string }> {
	return [...text.matchAll(QUANTITY)].map(([, value, unit]) => ({ value: numberOf(value), unit: unitOf(unit) }));
}

/** 1 if a range has one of the quantities, -1 if it has the unit of one but not its value, 0 otherwise. */
export function rangeMatch(
	ranges: readonly NumberRange[],
	quantities: ReadonlyArray<{ value: number; unit: string }>,
): number {
	let best = 0;
	for (const { from, to, unit } of ranges) {
		for (const quantity of quantities) {
			if (quantity.unit !== unit) continue;
			const [isAfter, isBefore] = [quantity.value >= from, quantity.value <= to];
			if (from <= to ? isAfter && isBefore : isAfter || isBefore) return 1;
			best = -1;
		}
	}
	return best;
}

function unitOf(text: string | undefined): string {
	return text === undefined ? '' : text.toLowerCase().slice(0, 3);
}

function numberOf(text: string | undefined): number {
	return Number((text ?? '').replace(',', '.'));
}
