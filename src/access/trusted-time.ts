import { decideAndCommit, type Store } from '../store/index.ts';

const TRUSTED_TIME_FACT = 'seen_time';
/** It is written no more often: a server without work lets the disk rest. */
const WRITE_INTERVAL_MS = 10 * 60_000;

/** What the clock said when it was last beyond doubt (ms since the epoch); null where no server has noted it yet. */
export async function readTrustedTime(store: Pick<Store, 'get'>): Promise<number | null> {
	const fact = await store.get('server_facts', TRUSTED_TIME_FACT);
	return fact === undefined ? null : Number(fact.value);
}

/** Notes what a clock says that is beyond doubt, so that the next start notices a jump that lies between. */
export async function recordTrustedTime(store: Pick<Store, 'get' | 'commit'>, now: number): Promise<void> {
	await decideAndCommit(store, async () => {
		const fact = await store.get('server_facts', TRUSTED_TIME_FACT);
		if (fact === undefined) {
			const record = { id: TRUSTED_TIME_FACT, value: String(now), created_at: now };
			return { commit: { write: [{ op: 'insert', kind: 'server_facts', record }] }, result: undefined };
		}
		// A clock that was set back since counts from where it is now.
		const isRecent = Math.abs(now - Number(fact.value)) < WRITE_INTERVAL_MS;
		if (isRecent) return { commit: null, result: undefined };
		const write = { op: 'patch', kind: 'server_facts', id: TRUSTED_TIME_FACT, set: { value: String(now) } } as const;
		return { commit: { write: [write] }, result: undefined };
	});
}
