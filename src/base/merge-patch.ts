/**
 * The fields that a JSON merge patch (RFC 7396) changes, each with its new value: objects are merged member by member,
 * arrays and scalars replaced. The patch has been validated, so a null is a permitted value and is kept.
 */
export function mergedFields<R extends object, P extends { [K in keyof P]: unknown }>(record: R, patch: P): Partial<R> {
	const set = Object.entries(patch).flatMap(([field, value]) => {
		if (value === undefined) return [];
		const old = (record as Record<string, unknown>)[field];
		return [[field, isObject(value) && isObject(old) ? { ...old, ...mergedFields(old, value) } : value]];
	});
	// Defines members instead of assigning them: a member called __proto__ stays data.
	return Object.fromEntries(set) as Partial<R>;
}

/**
 * A free-form object after a JSON merge patch (RFC 7396), where null removes a member. Members called `__proto__` stay data.
 */
export function applyMergePatch(
	target: Record<string, unknown>,
	patch: Record<string, unknown>,
): Record<string, unknown> {
	const members = new Map(Object.entries(target));
	for (const [name, value] of Object.entries(patch)) {
		const old = members.get(name);
		if (value === null) members.delete(name);
		else members.set(name, isObject(value) ? applyMergePatch(isObject(old) ? old : {}, value) : value);
	}
	return Object.fromEntries(members);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
