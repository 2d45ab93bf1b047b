/**
 * The delay of a Retry-After header (RFC 9110, 10.2.3: seconds, or a date) in milliseconds from now; null when the header is
 * absent or malformed.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
	const value = header?.trim() ?? '';
	if (/^\d{1,9}(\.\d+)?$/.test(value)) return Number(value) * 1_000;
	const date = Date.parse(value);
	return Number.isNaN(date) ? null : Math.max(0, date - now);
}
