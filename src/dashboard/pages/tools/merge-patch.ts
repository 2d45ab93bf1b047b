/**
 * The JSON merge patch (RFC 7396) that makes one object another. A null within an object cannot be expressed by it.
 * @returns null where both are equal
 */
export function mergePatch(from: object, to: object): Record<string, unknown> | null {
	const before = new Map(Object.entries(from));
	const after = new Map(Object.entries(to));
	const patch = new Map<string, unknown>();
	for (const name of before.keys()) if (!after.has(name)) patch.set(name, null);
	for (const [name, value] of after) {
		const old = before.get(name);
		if (isObject(value) && isObject(old)) {
			const part = mergePatch(old, value);
			if (part) patch.set(name, part);
		} else if (JSON.stringify(value) !== JSON.stringify(old)) patch.set(name, value);
	}
	return patch.size === 0 ? null : Object.fromEntries(patch);
}

function isObject(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
