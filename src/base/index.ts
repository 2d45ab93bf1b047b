export { anySignal } from './any-signal.ts';
export { type Deferred, deferred, rejectOnAbort, sleep, withDeadline } from './async.ts';
export { AsyncDisposableStack } from './async-disposable-stack.ts';
export { type CertificateSummary, readCertificate, type TlsFiles, validityProblem } from './certificate.ts';
export { clientNetwork } from './client-network.ts';
export {
	type Clock,
	DAY_MS,
	elapsedMs,
	hasFourDigitYear,
	monotonicTimeFrom,
	systemClock,
	timestamp,
	timestampOrNull,
} from './clock.ts';
export { ClockJumpDetector } from './clock-jump-detector.ts';
export { CpuBudgets } from './cpu-budgets.ts';
export { descriptorShares, readLimit } from './descriptor-limit.ts';
export { fsyncFolder, makeDurableFolder } from './durable-folder.ts';
export { AppError, ERROR_CODES, type ErrorCode, type ErrorDetail, messageOf } from './errors.ts';
export { formatBytes } from './format-bytes.ts';
export { requireFreeSpace } from './free-space.ts';
export { addressOnThisMachine, type HttpScheme, httpAddress, isLoopback } from './http-address.ts';
export { ID_PREFIXES, IdGenerator, type IdKind, isId, kindOfId, newId, timeOfId, useIdGenerator } from './ids.ts';
export { KeyedLock } from './keyed-lock.ts';
export { latencySlot, percentileOf, slotLatency } from './latency-histogram.ts';
export { LinkedList, type LinkedNode } from './linked-list.ts';
export { boundedErrorText, createLog, type Log } from './log.ts';
export { LruCache } from './lru-cache.ts';
export { applyMergePatch, mergedFields } from './merge-patch.ts';
export { exceedsDepth } from './nesting-depth.ts';
export { OtherNodeError } from './other-node-error.ts';
export { parseUrl } from './parse-url.ts';
export { PeriodicTask } from './periodic-task.ts';
export { type PullSource, ReadyItems, type SourceReader } from './pull-source.ts';
export { ReadWriteLock } from './read-write-lock.ts';
export { ResourceShortage, shortageFromWorker, shortageOf } from './resource-shortage.ts';
export { retryAfterMs } from './retry-after.ts';
export { type AbortableRequest, type AbortListener, RevocableUse, RevocableUses } from './revocable-use.ts';
export { SecretBox } from './secret-box.ts';
export { Semaphore, type SemaphoreQueue } from './semaphore.ts';
export { separateCharacters } from './separate-characters.ts';
export { encodeServerSentEvent, encodeSingleLines, type ServerSentEvent } from './server-sent-event.ts';
export { SlicedWork, type WaitingWork } from './sliced-work.ts';
export { SlidingWindowLimiter } from './sliding-window-limiter.ts';
export { SlidingWindowLog } from './sliding-window-log.ts';
export { SpacedTask } from './spaced-task.ts';
export { inSpan, NO_SPAN, type Span, type SpanAttributes } from './span.ts';
export { lowerProcessPriority, lowerRuntimeThreadsPriority, lowerThreadPriority } from './thread-priority.ts';
export { ThrottledLog } from './throttled-log.ts';
export { isTimeZone } from './time-zone.ts';
export { version } from './version.ts';
