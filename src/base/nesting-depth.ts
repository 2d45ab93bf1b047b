/**
 * Whether a JSON value is nested deeper than this many levels. It checks level by level, because recursion could overflow the
 * stack.
 */
export function exceedsDepth(value: unknown, maxDepth: number): boolean {
	let level = [value].filter(isNested);
	for (let depth = 0; level.length > 0; depth++) {
		if (depth === maxDepth) return true;
		level = level.flatMap((holder) => Object.values(holder).filter(isNested));
	}
	return false;
}

function isNested(value: unknown): value is object {
	return typeof value === 'object' && value !== null;
}
