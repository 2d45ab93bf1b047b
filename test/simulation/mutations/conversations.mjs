// Faults of the actor of a conversation, and of the commits that it makes. See index.mjs.
const ACTOR = 'src/conversations/conversation-actor.ts';
const TURN = 'src/conversations/turn.ts';
const RESTART = 'src/conversations/restart.ts';
const HAND_OVER = 'src/conversations/hand-over.ts';

export const conversationMutations = [
	{
		name: 'the model answers although a person handles the conversation',
		file: ACTOR,
		find: "if (conversation.handled_by === 'human') return this.#storeForHuman(conversation, request);",
		replace: '',
	},
	{
		name: 'a question that was not stored keeps its reply',
		file: ACTOR,
		find: `			const seqs = await committing.catch((error: unknown) => {
				this.#abandonReply();`,
		replace: '			const seqs = await committing.catch((error: unknown) => {',
	},
	{
		name: 'the stream of a turn begins after its question',
		file: ACTOR,
		find: 'this.#position = (seqs.at(-2) as number) - 1;',
		replace: 'this.#position = (seqs.at(-1) as number) - 1;',
	},
	{
		name: 'a message does not wait for the reply before it',
		file: ACTOR,
		find: `	acceptsUserMessages(): boolean {
		return this.#turn === null;`,
		replace: `	acceptsUserMessages(): boolean {
		return true;`,
	},
	{
		name: 'an actor with a running reply is passivated',
		file: ACTOR,
		find: `	canPassivate(): boolean {
		return this.#turn === null;`,
		replace: `	canPassivate(): boolean {
		return true;`,
	},
	{
		name: 'a running reply is resumed',
		file: ACTOR,
		find: 'if (!this.#turn || this.#task) return;',
		replace: 'if (!this.#turn) return;',
	},
	{
		name: 'an interrupted reply is started without a limit',
		file: ACTOR,
		find: 'if (reply.attempts >= MAX_REPLY_ATTEMPTS) {',
		replace: 'if (reply.attempts > MAX_REPLY_ATTEMPTS) {',
	},
	{
		name: 'the attempts of a reply are not counted',
		file: RESTART,
		find: '{ attempts: interrupted.reply.attempts + 1, tool_calls: [] }',
		replace: '{ attempts: interrupted.reply.attempts, tool_calls: [] }',
	},
	{
		name: 'a changed conversation does not reach the running turn',
		file: ACTOR,
		find: 'if (this.#turn) this.#turn = { ...this.#turn, conversation: change.conversation };',
		replace: '',
	},
	{
		name: 'the receipt of a request is not stored',
		file: ACTOR,
		find: 'return this.#commit(receipt ? { ...commit, idempotency: completeReceipt(receipt, outcome) } : commit);',
		replace: 'void completeReceipt; void outcome; void receipt; return this.#commit(commit);',
	},
	{
		name: 'an archived conversation takes messages',
		file: ACTOR,
		find: `		if (!conversation) throw conversationNotFound();
		if (conversation.status === 'archived') throw new AppError('conversation_archived');`,
		replace: '		if (!conversation) throw conversationNotFound();',
	},
	{
		name: 'the streams of an erased conversation stay open',
		file: ACTOR,
		find: 'this.#deps.outbox.close(id);',
		replace: '',
	},
	{
		name: 'a repeat of a restarted turn gets no question',
		file: ACTOR,
		find: `		this.#position = (seqs[0] ?? 1) - 1;
		this.#restarted = true;`,
		replace: '		this.#position = (seqs[0] ?? 1) - 1;',
		seeds: 3_000,
	},
	{
		name: 'the messages of a turn are counted as one',
		file: TURN,
		find: '...{ message_count: conversation.message_count + 2, last_message_at: now, updated_at: now, ...requested },',
		replace:
			'...{ message_count: conversation.message_count + 1, last_message_at: now, updated_at: now, ...requested },',
	},
	{
		name: 'the end of a reply does not close its text',
		file: TURN,
		find: "{ message_id: reply.id, text: 'closes' },",
		replace: '{ message_id: reply.id },',
	},
	{
		name: 'the rounds of a reply that has ended stay',
		file: TURN,
		find: "const erasesRounds = rounds.length > 0 && outcome.status !== 'failed';",
		replace: 'const erasesRounds = rounds.length > 9;',
	},
	{
		name: 'a reset does not open the text again',
		file: RESTART,
		find: "{ message_id: reply.id, text: 'opens' }",
		replace: '{ message_id: reply.id }',
	},
	{
		name: 'a takeover does not end the running reply',
		file: HAND_OVER,
		find: "const ended = running && to === 'human' ? endTurn(running.turn, running.outcome, now) : null;",
		replace: 'const ended = running && to === null ? endTurn(running.turn, running.outcome, now) : null;',
	},
	{
		name: 'a person answers without a takeover',
		file: HAND_OVER,
		find: "if (record.handled_by !== 'human') {",
		replace: 'if (record.handled_by === null) {',
	},
	{
		name: 'replies of an earlier process are not resumed',
		file: 'src/conversations/conversations.ts',
		find: "this.#actors.tell(conversation_id, { type: 'resume' }, { lane: 'control' });",
		replace: 'void conversation_id;',
	},
	{
		name: 'a reply that could not be stored is not resumed',
		file: 'src/conversations/conversations.ts',
		find: "this.#actors.tell(id, { type: 'resume' }, { lane: 'control' });",
		replace: '',
	},
	{
		name: 'a stop returns before the end of the reply is on disk',
		file: 'src/conversations/conversations.ts',
		find: 'await this.reply(result.turn, AbortSignal.timeout(STOP_TIMEOUT_MS));',
		replace: '',
	},
	{
		name: 'the text before the end of a reply is not reported',
		file: 'src/conversations/report-queue.ts',
		find: `	add(message: M): void {
		this.#enqueueText();`,
		replace: '	add(message: M): void {',
	},
	{
		name: 'a call is made before its start is on disk',
		file: 'src/conversations/reply.ts',
		find: 'await rejectOnAbort(listener.round(round, usageOf(progress)), signal)',
		replace: 'void rejectOnAbort(listener.round(round, usageOf(progress)), signal)',
	},
	{
		name: 'the receipt of a message names no reply',
		file: 'src/conversations/request-receipt.ts',
		find: 'reply_id: reply?.id ?? null',
		replace: 'reply_id: null',
	},
	{
		name: 'the receipt of a message is not erased with its conversation',
		file: 'src/conversations/request-receipt.ts',
		find: 'return { ...key, pending, subject: conversation_id };',
		replace: 'return { ...key, pending };',
	},
];
