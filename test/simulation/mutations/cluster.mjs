// Faults of a cluster of two nodes. See index.mjs.
const MEMBER = 'src/cluster-member.ts';
const PLACEMENT = 'src/cluster/placement.ts';
const ACTOR = 'src/conversations/conversation-actor.ts';
const CONVERSATIONS = 'src/conversations/conversations.ts';
const OUTBOX = 'src/outbox/outbox.ts';
const DATABASE = 'test/simulation/cluster/simulated-placement.ts';

export const clusterMutations = [
	{
		name: 'the fence of a commit is not checked',
		file: DATABASE,
		find: 'return this.#shards[shard]?.epoch === epoch;',
		replace: 'return this.#shards[shard] !== undefined || epoch === 0;',
	},
	{
		name: 'the epoch of a shard does not grow',
		file: DATABASE,
		find: 'shard.epoch += 1;',
		replace: 'shard.epoch = 1;',
	},
	{
		name: 'commits of a conversation have no fence',
		file: ACTOR,
		find: 'return this.#deps.store.commit(this.#fence ? { ...commit, fence: this.#fence } : commit);',
		replace: 'return this.#deps.store.commit(commit);',
	},
	{
		name: 'a node keeps its actors when its shards are lost',
		file: MEMBER,
		find: 'this.#work?.conversations.abandonWhere(isLost);',
		replace: '',
	},
	{
		name: 'streams stay open when their shards are lost',
		file: CONVERSATIONS,
		find: "this.#deps.outbox.closeWhere((stream) => isId('conversation', stream) && isLost(stream));",
		replace: '',
	},
	{
		name: 'what a node has stored before it lost a shard is published after it has gained it again',
		file: OUTBOX,
		find: 'return this.#fenceOf(stream)?.epoch !== fence.epoch;',
		replace: 'return false;',
	},
	{
		name: 'replies are not resumed when shards are gained',
		file: MEMBER,
		find: 'await this.#work?.conversations.resumeUnfinished();',
		replace: '',
	},
	{
		name: 'a node that renews its lease after its end serves its shards with the same epochs',
		file: PLACEMENT,
		find: `		await this.#releaseGivenUp();
		const startedAt`,
		replace: `		this.#givenUp.clear();
		const startedAt`,
	},
].map((mutation) => ({ ...mutation, nodes: 2 }));
