import { decideAndCommit, type Store } from '../store/index.ts';

const TRUSTED_TIME_FACT = 'seen_time';
/** The interval between writes: an idle server hardly writes to the disk. */
const WRITE_INTERVAL_MS = 10 * 60_000;

/** The last trusted time (milliseconds since the epoch); null where no server has recorded one yet. */
export async function readTrustedTime(store: Pick<Store, 'get'>): Promise<number | null> {
	const fact = await store.get('server_facts', TRUSTED_TIME_FACT);
	return fact === undefined ? null : Number(fact.value);
}

/** Records a trusted time, so that the next start detects a jump of the clock between the two. */
export async function recordTrustedTime(store: Pick<Store, 'get' | 'commit'>, now: number): Promise<void> {
	await decideAndCommit(store, async () => {
		const fact = await store.get('server_facts', TRUSTED_TIME_FACT);
		if (fact === undefined) {
			const record = { id: TRUSTED_TIME_FACT, value: String(now), created_at: now };
			return { commit: { write: [{ op: 'insert', kind: 'server_facts', record }] }, result: undefined };
		}
		// After the clock was set back, the earlier time counts.
		const isRecent = Math.abs(now - Number(fact.value)) < WRITE_INTERVAL_MS;
		if (isRecent) return { commit: null, result: undefined };
		const write = { op: 'patch', kind: 'server_facts', id: TRUSTED_TIME_FACT, set: { value: String(now) } } as const;
		return { commit: { write: [write] }, result: undefined };
	});
}
