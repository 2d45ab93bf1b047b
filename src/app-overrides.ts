import type { FirstStartSecrets, OperatorConsole, Passwords } from './access/index.ts';
import type { Clock, Log } from './base/index.ts';
import type { ChatProvider } from './models/index.ts';
import type { Network } from './net/index.ts';
import type { WorkerPool } from './pool/index.ts';

/** Replacements for tests. */
export interface AppOverrides {
	clock?: Clock;
	log?: Log;
	network?: Network;
	pool?: WorkerPool;
	/** Model providers beside the built-in one. */
	providers?: ChatProvider[];
	/** Receives what the first start made, once it is stored. */
	onFirstStart?: (first: FirstStartSecrets) => void;
	/** The operator's console; without it, nothing is written or printed. */
	console?: OperatorConsole;
	/** How passwords are hashed. */
	passwords?: Passwords;
	/** Milliseconds that a model may take for a reply. */
	replyTimeoutMs?: number;
	/** Milliseconds that the search for a reply may take. */
	searchTimeoutMs?: number;
	/** Milliseconds that a model may take for the query of a search. */
	rewriteTimeoutMs?: number;
	/** Milliseconds that a reply waits for the functions of an MCP server. */
	toolListTimeoutMs?: number;
	/** Milliseconds that a request to the inbox waits for what was committed before it. */
	inboxFreshnessMs?: number;
	/** Event streams and replies that may be in flight at once with one API key or session. */
	streamsPerCredential?: number;
	/** Milliseconds for each request to the identity provider. */
	identityProviderTimeoutMs?: number;
	/** Milliseconds between two requests of a crawl to a host that asks for no delay; 0: no delay for any host. */
	crawlDelayMs?: number;
	/** Milliseconds until an erasure of an end user that has failed is continued. */
	erasureIntervalMs?: number;
	/** Milliseconds between checks for conversations whose retention has ended. */
	retentionIntervalMs?: number;
}
