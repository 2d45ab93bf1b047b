const SIGNS = new Map([...'0123456789+-−=()'].map((sign, index) => [sign, [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾'][index] ?? sign]));

/** Superscripts that change the meaning of what they follow. Raised letters, as in `1st`, read well beside it. */
const NUMERIC = /^[\d+\-−=(),\s]{1,20}$/;

/**
 * Superscript text as plain text. A number after a number is marked, so that `£13` with the note 1 does not become `£131`; search reads
 * the superscripts of Unicode as plain digits.
 * @param before the text of its paragraph so far
 */
export function raisedText(before: string, text: string): string {
	const tail = before.slice(-20);
	if (!NUMERIC.test(text) || text.trim() === '' || /\^[\d+\-−=(),]*$/.test(tail)) return text;
	if (/[\p{Nd}\p{No}%]$/u.test(tail)) return `^${text}`;
	return [...text].map((sign) => SIGNS.get(sign) ?? sign).join('');
}
