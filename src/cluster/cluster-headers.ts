// Headers between the nodes of a cluster. They are never passed on to a client, and never taken from one.

/** Proves that the sender knows the secret key. */
export const CLUSTER_KEY = 'x-parley-cluster-key';
/** In a response: the node is not the owner and has not carried the request out. */
export const NOT_THE_OWNER = 'x-parley-not-the-owner';
