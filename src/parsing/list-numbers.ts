/** The formats of the numbers of lists, by their names in Office Open XML (ISO/IEC 29500-1, 17.18.59). Others are decimal. */
export function numberText(number: number, format: string): string {
	switch (format) {
		case 'lowerLetter':
			return letters(number).toLowerCase();
		case 'upperLetter':
			return letters(number);
		case 'lowerRoman':
			return roman(number).toLowerCase();
		case 'upperRoman':
			return roman(number);
		case 'decimalZero':
			return String(number).padStart(2, '0');
		default:
			return String(number);
	}
}

/** A to Z, then AA to ZZ. */
function letters(number: number): string {
	if (number < 1 || number > 780) return String(number);
	return String.fromCharCode(65 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));
}

const ROMAN: Array<[value: number, sign: string]> = [
	[1000, 'M'],
	[900, 'CM'],
	[500, 'D'],
	[400, 'CD'],
	[100, 'C'],
	[90, 'XC'],
	[50, 'L'],
	[40, 'XL'],
	[10, 'X'],
	[9, 'IX'],
	[5, 'V'],
	[4, 'IV'],
	[1, 'I'],
];

function roman(number: number): string {
	if (number < 1 || number > 3999) return String(number);
	let rest = number;
	let text = '';
	for (const [value, sign] of ROMAN) {
		text += sign.repeat(Math.floor(rest / value));
		rest %= value;
	}
	return text;
}
