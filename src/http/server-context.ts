import type { Log } from '../base/index.ts';
import type { ClientAddress } from './client-address.ts';
import type { DiscardThrottle } from './discard-throttle.ts';
import type { RequestDispatcher } from './dispatch.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { HttpLimits } from './limits.ts';
import type { PendingExchanges } from './pending-exchanges.ts';
import type { RefusalDelay } from './refusal-delay.ts';
import type { RequestObserver } from './request-log.ts';
import type { RequestTracer } from './request-tracer.ts';
import type { SmallChunkLimit } from './small-chunk-limit.ts';

/** What an exchange needs from its server. */
export interface ServerContext {
	readonly dispatcher: RequestDispatcher;
	readonly limits: HttpLimits;
	readonly log: Log;
	readonly clientAddress: ClientAddress;
	/** Whether the sender is another node: its X-Request-Id and its `TIMEOUT_HEADER` hold. */
	readonly trustsSender: boolean;
	/** Null: refusals are not delayed. */
	readonly refusalDelay: RefusalDelay | null;
	/** Observe each request when its exchange is over. */
	readonly observers: readonly RequestObserver[];
	/** Null: requests are not traced. */
	readonly tracer: RequestTracer | null;
	/** Whether an observer reads the address of clients. The library gives it only until the response is written. */
	readonly observesAddresses: boolean;
	readonly pendingExchanges: PendingExchanges;
	readonly heartbeats: Heartbeats;
	readonly discardThrottle: DiscardThrottle;
	readonly smallChunkLimit: SmallChunkLimit;
}
