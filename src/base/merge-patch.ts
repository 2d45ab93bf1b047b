/**
 * The fields that a JSON merge patch (RFC 7396) changes, each with its new value: objects are merged member by member,
 * arrays and scalars replaced. The patch has been validated, so null only stands where null may be.
 */
export function mergePatch<R extends object, P extends { [K in keyof P]: unknown }>(record: R, patch: P): Partial<R> {
	const set: Record<string, unknown> = {};
	for (const [field, value] of Object.entries(patch)) {
		if (value === undefined) continue;
		const old = (record as Record<string, unknown>)[field];
		set[field] = isObject(value) && isObject(old) ? { ...old, ...value } : value;
	}
	return set as Partial<R>;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
