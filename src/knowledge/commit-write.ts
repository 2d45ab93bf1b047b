import type { Store, Write } from '../store/index.ts';

/**
 * Carries out one write of the index.
 * @throws Error when the commit is refused
 */
export async function commitWrite(store: Pick<Store, 'commit'>, write: Write): Promise<void> {
	const { outcome } = await store.commit({ write: [write] });
	if (outcome !== 'committed') throw new Error(`The write ${write.op} was refused (${outcome}).`);
}
