import { type Clock, type Log, LruCache, messageOf } from '../base/index.ts';
import type { ApiKeyRecord, Store } from '../store/index.ts';

const MINUTE = 60_000;
/** Keys whose last recording is remembered. For others the stored time decides. */
const MAX_REMEMBERED_KEYS = 10_000;

/** Records when keys were last used, to the minute. It runs beside the requests: none waits for it or fails because of it. */
export class LastUseRecorder {
	readonly #store: Pick<Store, 'commit'>;
	readonly #clock: Clock;
	readonly #log: Log;
	/** When each key's use was last recorded. A commit in flight is not in the stored record yet. */
	readonly #recordedAt = new LruCache<string, number>(MAX_REMEMBERED_KEYS);

	constructor({ store, clock, log }: { store: Pick<Store, 'commit'>; clock: Clock; log: Log }) {
		this.#store = store;
		this.#clock = clock;
		this.#log = log;
	}

	/** Records that a key is used now, unless that was recorded within the last minute. */
	record({ id, last_used_at }: ApiKeyRecord): void {
		const now = this.#clock.now();
		const recent = (at: number | null | undefined) => at != null && Math.abs(now - at) < MINUTE;
		if (recent(this.#recordedAt.get(id)) || recent(last_used_at)) return;
		this.#recordedAt.set(id, now);
		// A conflict means that the key was revoked meanwhile.
		this.#store
			.commit({ write: [{ op: 'patch', kind: 'api_keys', id, set: { last_used_at: now } }] })
			.catch((error) => {
				this.#log.warn({ error: messageOf(error), api_key: id }, 'the last use of an API key could not be recorded');
			});
	}
}
