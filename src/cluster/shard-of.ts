import { SHARD_COUNT } from '../store/index.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The shard of a conversation or deployment, by its id. It is stored nowhere, but all nodes must agree: the hash (FNV-1a) never changes. */
export function shardOf(id: string): number {
	let hash = FNV_OFFSET;
	for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), FNV_PRIME);
	// The low bits of FNV-1a depend on the last characters only.
	return ((hash >>> 16) ^ hash) & (SHARD_COUNT - 1);
}
