// Faults that the simulations must find. Each replaces a text of one source file: {name, file, find, replace}, and `seeds`, the number of seeds
// within which one finds it, where that is not the usual number, and `nodes`, where it is a fault of a cluster. A text that is not in its file exactly once is an error.
import { clusterMutations } from './cluster.mjs';
import { conversationMutations } from './conversations.mjs';
import { storeMutations } from './store.mjs';
import { streamMutations } from './streams.mjs';

/** Seeds within which a fault is found. */
export const USUAL_SEEDS = 500;

export const mutations = [...conversationMutations, ...streamMutations, ...storeMutations, ...clusterMutations];
