/** Micros, millionths of a currency's unit: the API's amounts. */
const MICROS = 1_000_000;
/** The largest amount of a budget. */
const MAX_MICROS = 1_000_000_000_000_000;
const MAX_DIGITS = 6;

/**
 * An amount as people of a locale write it. Amounts below one unit of the currency have two significant digits: replies cost
 * fractions of a cent.
 * @param currency the code of ISO 4217
 */
export function formatMoney(micros: number, currency: string, locale: string): string {
	const digits = fractionDigits(micros, currency);
	const style = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
	return (micros / MICROS).toLocaleString(locale, style);
}

/** An amount without its currency, as a field shows it. */
export function formatAmount(micros: number, currency: string, locale: string): string {
	const minimumFractionDigits = digitsOf(currency);
	const style = { minimumFractionDigits, maximumFractionDigits: MAX_DIGITS };
	return (micros / MICROS).toLocaleString(locale, style);
}

/**
 * The micros of an amount that a person has written, with the locale's or another separator; null if it is no amount. A separator
 * with other than three digits behind it separates the fraction: 12.50 is an amount in German, too.
 */
export function parseAmount(text: string, locale: string): number | null {
	const compact = text.trim().replace(/[\s'’]/g, '');
	const decimal = decimalSeparator(locale);
	const group = decimal === ',' ? '.' : ',';
	const isGrouped = new RegExp(`^\\d{1,3}(\\${group}\\d{3})+(\\${decimal}\\d*)?$`).test(compact);
	const plain = isGrouped ? compact.replaceAll(group, '') : compact;
	if (!/^\d+([.,]\d*)?$/.test(plain)) return null;
	const micros = Math.round(Number(plain.replace(',', '.')) * MICROS);
	return micros <= MAX_MICROS ? micros : null;
}

function fractionDigits(micros: number, currency: string): number {
	const least = digitsOf(currency);
	if (micros === 0 || Math.abs(micros) >= MICROS) return least;
	const significant = 1 - Math.floor(Math.log10(Math.abs(micros) / MICROS));
	return Math.min(Math.max(least, significant), MAX_DIGITS);
}

function digitsOf(currency: string): number {
	return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

function decimalSeparator(locale: string): string {
	const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
	return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}
