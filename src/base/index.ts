export { type Deferred, deferred, pause, withDeadline } from './async.ts';
export { type Clock, systemClock, timestamp, timestampOrNull } from './clock.ts';
export { AppError, ERROR_CODES, type ErrorCode, type ErrorDetail, type ErrorExtras, messageOf } from './errors.ts';
export { ID_PREFIXES, type IdKind, isId, newId } from './ids.ts';
export { KeyedLock } from './keyed-lock.ts';
export { createLog, type Log } from './log.ts';
export { Lru } from './lru.ts';
export { mergePatch } from './merge-patch.ts';
export { Owned } from './owned.ts';
