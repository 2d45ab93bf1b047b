/** How a sheet shows a number. */
export type NumberFormat = (value: number) => string;

/** The built-in formats of dates and times (ISO/IEC 29500-1, 18.8.30), which Excel shows in the style of the country. */
const BUILT_IN: Record<number, string> = {
	9: '0%',
	10: '0.00%',
	2: '0.00',
	3: '#,##0',
	4: '#,##0.00',
	14: 'yyyy-mm-dd',
	15: 'd-mmm-yy',
	16: 'd-mmm',
	17: 'mmm-yy',
	18: 'h:mm AM/PM',
	19: 'h:mm:ss AM/PM',
	20: 'h:mm',
	21: 'h:mm:ss',
	22: 'yyyy-mm-dd h:mm',
	45: 'mm:ss',
	46: '[h]:mm:ss',
};

const DAY_MS = 86_400_000;
/** Day 0 of the two date systems. The first one has a 29 February 1900, so days from 1 March 1900 on count from here. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const MAX_DAY = 2_958_466;
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/**
 * The format of a style, from its code or the number of a built-in one. Codes that are not simple show the plain number, and dates
 * as `2026-11-23`.
 */
export function numberFormatOf(id: number, code: string | undefined, is1904: boolean): NumberFormat {
	// The first section is that of positive numbers. Colours, padding and the locale are no text.
	const section = (code ?? BUILT_IN[id] ?? 'General').split(';')[0] ?? '';
	const plain = section
		.replace(/\[\$([^\]-]*)(?:-[^\]]*)?\]/g, (_, currency: string) => quote(currency))
		.replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]|_.|\*./gi, '')
		.replace(/\\(.)/g, (_, character: string) => quote(character));
	const symbols = plain.replace(/"[^"]*"/g, '');
	if (/[ymdhs]/i.test(symbols) && !/[#0?]/.test(symbols)) return dateFormat(plain, is1904 ? EPOCH_1904 : EPOCH_1900);
	const number = /^((?:"[^"]*"|[^#0?."%])*)([#0?,]*[#0?])(?:\.([0#?]+))?((?:"[^"]*"|[^#0?."])*)$/.exec(plain);
	if (number === null || /e[+-]/i.test(symbols) || symbols.includes('/')) return plainNumber;
	const [, before = '', digits = '', decimals = '', after = ''] = number;
	const isPercent = after.includes('%');
	const count = Math.min(decimals.length, 15);
	const grouped = new Intl.NumberFormat('en-US', {
		useGrouping: digits.includes(','),
		minimumFractionDigits: Math.min(decimals.replace(/[^0]/g, '').length, 15),
		maximumFractionDigits: count,
	});
	return (value) => {
		const text = grouped.format(Math.abs(isPercent ? value * 100 : value));
		return `${value < 0 ? '-' : ''}${literal(before)}${text}${literal(after)}`.trim();
	};
}

/** A number without a format. Binary fractions are rounded, as in a sheet. */
export function plainNumber(value: number): string {
	return Number.isFinite(value) ? String(Number(value.toPrecision(15))) : '';
}

function quote(text: string): string {
	return `"${text.replaceAll('"', '')}"`;
}

function literal(text: string): string {
	return text.replaceAll('"', '');
}

function dateFormat(code: string, epoch: number): NumberFormat {
	const tokens = code.match(/"[^"]*"|AM\/PM|y+|m+|d+|\[?h+\]?|s+|[^ymdhs"]/gi) ?? [];
	const hasHalfDays = /AM\/PM/i.test(code);
	const kinds = tokens.map((token, at) => {
		if (!/^m{1,2}$/i.test(token)) return token.toLowerCase();
		// Beside hours or seconds, `mm` are minutes.
		const before = tokens.slice(0, at).findLast((other) => /[ydhs]/i.test(other) && !other.startsWith('"'));
		const after = tokens.slice(at + 1).find((other) => /[ydhs]/i.test(other) && !other.startsWith('"'));
		return /h/i.test(before ?? '') || /^s/i.test(after ?? '')
			? token.toLowerCase().replaceAll('m', 'n')
			: token.toLowerCase();
	});
	return (value) => {
		if (!(value >= 0 && value < MAX_DAY)) return plainNumber(value);
		const date = new Date(epoch + Math.round(value * 86_400) * 1000);
		return tokens
			.map((token, at) => datePart(kinds[at] ?? '', token, date, value, hasHalfDays))
			.join('')
			.trim();
	};
}

function datePart(kind: string, token: string, date: Date, days: number, hasHalfDays: boolean): string {
	const padded = (number: number) => String(number).padStart(kind.length, '0');
	const hours = date.getUTCHours();
	if (kind.startsWith('"')) return literal(token);
	if (kind === 'am/pm') return hours < 12 ? 'AM' : 'PM';
	if (kind.startsWith('[h')) return String(Math.floor((days * DAY_MS + 500) / 3_600_000));
	switch (kind[0]) {
		case 'y':
			return kind.length > 2 ? String(date.getUTCFullYear()) : String(date.getUTCFullYear() % 100).padStart(2, '0');
		case 'm': {
			const name = MONTHS[date.getUTCMonth()] ?? '';
			return kind.length > 3 ? name : kind.length === 3 ? name.slice(0, 3) : padded(date.getUTCMonth() + 1);
		}
		case 'd':
			return kind.length > 2 ? weekdayOf(date, kind.length) : padded(date.getUTCDate());
		case 'h':
			return padded(hasHalfDays ? hours % 12 || 12 : hours);
		case 'n':
			return padded(date.getUTCMinutes());
		case 's':
			return padded(date.getUTCSeconds());
		default:
			return token;
	}
}

function weekdayOf(date: Date, letters: number): string {
	const name = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'][date.getUTCDay()] ?? '';
	return letters > 3 ? name : name.slice(0, 3);
}
