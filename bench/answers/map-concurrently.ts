/** Calls `step` for every item, at most `limit` at a time. @returns the results in the order of the items */
export async function mapConcurrently<T, R>(
	items: readonly T[],
	limit: number,
	step: (item: T) => Promise<R>,
): Promise<R[]> {
	const results: R[] = [];
	const waiting = items.entries();
	const work = async () => {
		for (const [index, item] of waiting) results[index] = await step(item);
	};
	await Promise.all(Array.from({ length: limit }, work));
	return results;
}
