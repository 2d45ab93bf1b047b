import { format, getFormatDateInfo, getFormatFromId } from 'numfmt';

/** How a sheet shows a number. */
export type NumberFormat = (value: number) => string;

/** The days from the first day of the one date system to that of the other. */
const DAYS_UNTIL_1904 = 1462;

/** English, because the format of a style names another language if it has one. */
const OPTIONS = { locale: 'en-US' };

/**
 * The format of a style, from its code or the number of a built-in one. Dates whose format depends on the country of the reader are
 * shown as `2026-11-23`, and amounts in the currency of the reader without a currency.
 */
export function numberFormatOf(id: number, code: string | undefined, is1904: boolean): NumberFormat {
	if (code === undefined && isEastAsian(id)) return eastAsianFormat(id, is1904);
	const pattern = code ?? builtInCode(id);
	if (/^(?:general|@)?$/i.test(pattern)) return plainNumber;
	const { year, month, day } = getFormatDateInfo(pattern);
	// Times and durations do not count from a first day.
	const offset = is1904 && (year || month || day) ? DAYS_UNTIL_1904 : 0;
	return (value) => {
		try {
			return format(pattern, value + offset, OPTIONS).trim();
		} catch {
			return plainNumber(value);
		}
	};
}

/** A number without a format. Binary fractions are rounded, as in a sheet. */
export function plainNumber(value: number): string {
	return Number.isFinite(value) ? String(Number(value.toPrecision(15))) : '';
}

/** The code of a built-in format (ISO/IEC 29500-1, 18.8.30). */
function builtInCode(id: number): string {
	if (id === 14) return 'yyyy-mm-dd';
	if (id === 22) return 'yyyy-mm-dd h:mm';
	// Amounts: whole ones and ones with cents.
	if ([5, 6, 37, 38, 41, 42].includes(id)) return '#,##0';
	if ([7, 8, 39, 40, 43, 44].includes(id)) return '#,##0.00';
	return id < 50 ? getFormatFromId(id, OPTIONS.locale) : 'General';
}

/** Built-in formats of dates and times in Chinese, Japanese and Korean editions. A number means another format in each of them. */
function isEastAsian(id: number): boolean {
	return (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
}

function eastAsianFormat(id: number, is1904: boolean): NumberFormat {
	const time = numberFormatOf(id === 33 ? 21 : 20, undefined, is1904);
	const date = numberFormatOf(14, undefined, is1904);
	return (value) => (id === 32 || id === 33 || value < 1 ? time(value) : date(value));
}
