/**
 * What a Retry-After header asks for (RFC 9110, 10.2.3: seconds, or a date) as milliseconds from now; null where it is absent
 * or asks for nothing that can be read.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
	const value = header?.trim() ?? '';
	if (/^\d{1,9}(\.\d+)?$/.test(value)) return Number(value) * 1_000;
	const date = Date.parse(value);
	return Number.isNaN(date) ? null : Math.max(0, date - now);
}
