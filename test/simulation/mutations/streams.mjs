// Faults of the streams of events. See index.mjs.
const OUTBOX = 'src/outbox/outbox.ts';
const POSITION = 'src/outbox/subscriber-position.ts';
const SUBSCRIPTION = 'src/outbox/subscription.ts';
const RECENT = 'src/outbox/recent-events.ts';
const ENCODER = 'src/conversations/event-encoder.ts';
const STREAM = 'src/conversations/stream.ts';

export const streamMutations = [
	{
		name: 'a closed text stays open in memory',
		file: OUTBOX,
		find: "else if (data?.text === 'closes') topic.openText = null;",
		replace: '',
	},
	{
		name: 'a subscriber gets an event twice',
		file: POSITION,
		find: 'if (seq <= this.#seq) return null;',
		replace: '',
	},
	{
		name: 'the offset of a text counts for the next text',
		file: POSITION,
		find: 'if (isTextBoundary) this.#offset = 0;',
		replace: '',
	},
	{
		name: 'text of a reply that was reset is sent',
		file: POSITION,
		find: 'if (delta.seq < this.#lastTextBoundary || end <= this.#offset) return null;',
		replace: 'if (end <= this.#offset) return null;',
	},
	{
		name: 'a resumed text begins again',
		file: POSITION,
		find: 'const knownChars = Math.max(0, this.#offset - delta.index);',
		replace: 'const knownChars = 0;',
	},
	{
		name: 'the text before a subscription is not sent',
		file: SUBSCRIPTION,
		find: 'if (this.#snapshot?.text && !this.#topic?.isClosed) {',
		replace: 'if (this.#snapshot?.text === null) {',
	},
	{
		name: 'a subscription misses the events before those in memory',
		file: RECENT,
		find: 'if (recent === null || start < recent.after || seq > last) return null;',
		replace: 'if (recent === null || seq > last) return null;',
	},
	{
		name: 'a subscription begins behind the events that it resumes after',
		file: RECENT,
		find: 'return recent.events.filter((event) => event.seq > start);',
		replace: 'return recent.events.filter((event) => event.seq > start + 1);',
	},
	{
		name: 'a reply that has ended is opened in a replay',
		file: ENCODER,
		find: "if (opens && replayed && record.status !== 'in_progress') return 'finished';",
		replace: '',
	},
	{
		name: 'a reply begins with its end',
		file: ENCODER,
		find: 'message: opens ? { ...message, ...asStarted, ...usage } : message',
		replace: 'message: opens ? { ...asStarted, ...usage, ...message } : message',
	},
	{
		name: 'the text of a reply that is skipped is sent',
		file: STREAM,
		find: 'return this.#awaitsRestart || update.delta.seq === this.#finishedSeq ? null : this.#encoder.delta(update);',
		replace: 'return this.#encoder.delta(update);',
	},
	{
		name: 'live calls of a reply that is skipped are sent',
		file: STREAM,
		find: 'if (tool_call && message_id === this.#finishedReplyId) return null;',
		replace: 'if (tool_call && update.replayed && message_id === this.#finishedReplyId) return null;',
		seeds: 2_000,
	},
	{
		name: 'the stream of a turn does not end with its reply',
		file: STREAM,
		find: 'else void this.close();',
		replace: '',
	},
	{
		name: 'the reset of a reply that a stream has opened is not sent',
		file: STREAM,
		find: 'const isOpened = this.#openedReplies.has(message_id);',
		replace: 'const isOpened = false;',
		seeds: 3_000,
		nodes: 2,
	},
];
