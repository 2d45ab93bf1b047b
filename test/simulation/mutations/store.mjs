// Faults of the store, of actors and of counters. See index.mjs.
const STORE = 'src/store/sqlite/sqlite-store.ts';
const CACHE = 'src/store/sqlite/message-cache.ts';
const WRITER = 'src/store/sqlite/writer.ts';
const QUEUE = 'src/store/sqlite/writer-queue.ts';

export const storeMutations = [
	{
		name: 'a commit in flight is read from the cache',
		file: CACHE,
		find: 'return this.#inFlight.has(id) ? undefined : this.#messages.get(id);',
		replace: 'return this.#messages.get(id);',
	},
	{
		name: 'the cache misses the change of a message',
		file: CACHE,
		find: 'this.#cache({ ...before, ...set, version: before.version + 1 });',
		replace: 'this.#cache({ ...before, version: before.version + 1 }); void set;',
	},
	{
		name: 'events are published with the number of the first',
		file: STORE,
		find: 'seq: committed.seqs[index] as number',
		replace: 'seq: committed.seqs[Math.min(index, 0)] as number',
	},
	{
		name: 'the tasks of a batch share an outcome',
		file: QUEUE,
		find: 'this.#settle(pending, outcomes[position] as WriterOutcome);',
		replace: 'this.#settle(pending, outcomes[Math.min(position, 0)] as WriterOutcome);',
	},
	{
		name: 'a failed commit counts as committed',
		file: STORE,
		find: `			this.health.recordFailure(outcome.code, outcome.message);
			throw new AppError('unavailable', 'The change could not be written to disk.', {`,
		replace: `			if (task.task === 'commit') return { outcome: 'committed', seqs: (task.commit.events ?? []).map(() => 1) } as T;
			throw new AppError('unavailable', 'The change could not be written to disk.', {`,
	},
	{
		name: 'events have no deliveries',
		file: WRITER,
		find: 'if (!stream.startsWith(ID_PREFIXES.conversation)) addDeliveries(this.#prepare, event, seq);',
		replace: '',
	},
	{
		name: 'an erasure leaves stored responses',
		file: 'src/store/sqlite/conversation-erasure.ts',
		find: 'WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE subject = ? LIMIT ?)',
		replace: 'WHERE 1 = 0 AND (scope, key) IN (SELECT scope, key FROM idempotency WHERE subject = ? LIMIT ?)',
	},
	{
		name: 'an actor stays after its reply could not be stored',
		file: 'src/actors/actor-cell.ts',
		find: 'if (!(thrown instanceof AppError) || thrown instanceof OtherNodeError) this.#discard();',
		replace: '',
	},
	{
		name: 'messages that wait are delivered to the wrong lane first',
		file: 'src/actors/actor-cell.ts',
		find: 'if (actor.acceptsUserMessages?.() === false) return undefined;',
		replace: '',
	},
	{
		name: 'the inbox misses the last message',
		file: 'src/store/sqlite/inbox/derive-row.ts',
		find: 'message_count AS last_seq',
		replace: 'message_count - 1 AS last_seq',
	},
	{
		name: 'the inbox misses changes without a message',
		file: 'src/store/sqlite/inbox/write.ts',
		find: 'if (subject !== null) changed.add(subject);',
		replace: 'if (subject !== null && message_id !== null) changed.add(subject);',
	},
	{
		name: 'statistics count events again',
		file: 'src/store/sqlite/statistics/project.ts',
		find: "prepare('UPDATE statistics_state SET seq = ?').run(last);",
		replace: "prepare('UPDATE statistics_state SET seq = max(seq, ? - 1)').run(last);",
	},
	{
		name: 'an erasure loses the figures of a conversation',
		file: 'src/store/statistics/event-counter.ts',
		find: "this.ledger.add(owner, bucket, addition, 'erased', addition.value);",
		replace: '',
	},
	{
		name: 'a conversation expires before its time',
		file: 'src/conversations/retention.ts',
		find: 'const idleSince = now - days * DAY_MS;',
		replace: 'const idleSince = now - days;',
	},
];
