import { setImmediate } from 'node:timers/promises';
import type { ListPosition } from '../store/index.ts';

/** Rows of one read. */
const PAGE_SIZE = 500;

/**
 * All items of a long list in order of creation, page by page. It yields to the event loop between two pages: a knowledge
 * base of 50,000 documents does not block other work.
 */
export async function* paginate<T>(
	read: (after: ListPosition | undefined, limit: number) => Promise<T[]>,
	positionOf: (item: T) => { id: string; created_at: number },
): AsyncGenerator<T> {
	let after: ListPosition | undefined;
	for (;;) {
		const page = await read(after, PAGE_SIZE);
		yield* page;
		const last = page.at(-1);
		if (!last || page.length < PAGE_SIZE) return;
		const { created_at, id } = positionOf(last);
		after = { at: created_at, id };
		await setImmediate();
	}
}
