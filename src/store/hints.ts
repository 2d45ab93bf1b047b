/**
 * What hints are about; the ids are of that.
 * - `available`: workspaces in which a person is there.
 * - `deliveries`: deliveries that have changed.
 * - `documents`, `indexed_documents`, `knowledge_bases`: those that have changed, or were added to an index.
 * - `erasures`: erasures of end users that have begun.
 * - `webhooks`, `reset_webhooks`: endpoints at which something became due; those whose earlier failures no longer count, too.
 */
export const HINT_TOPICS = [
	'available',
	'deliveries',
	'documents',
	'erasures',
	'indexed_documents',
	'knowledge_bases',
	'reset_webhooks',
	'webhooks',
] as const;

export type HintTopic = (typeof HINT_TOPICS)[number];

/** Short messages between the nodes of a cluster. A hint may be lost: what it says is found in the database later. */
export interface Hints {
	/** Tells the other nodes that listen to the topic. The ids of a moment are sent together, and too many are dropped. */
	publish(topic: HintTopic, ids: Iterable<string>): void;
	/** Calls the listener with the ids that other nodes publish. Returns a function that ends this. */
	subscribe(topic: HintTopic, listener: (ids: readonly string[]) => void): () => void;
	/** Whether another node may listen to the topic. */
	isListenedTo(topic: HintTopic): boolean;
}
