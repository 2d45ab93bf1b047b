/**
 * Whether a value of JSON is nested deeper than so many levels. Looked at level by level: unlike whatever goes into its
 * depth, this cannot overflow the stack.
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
