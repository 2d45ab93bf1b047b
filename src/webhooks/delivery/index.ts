export { type AttemptObserver, CANCEL_BATCH_SIZE } from './attempts.ts';
export { Deliverer, type DelivererOptions } from './deliverer.ts';
export { DELIVERY_SCHEDULE, lastAttemptAt } from './delivery-schedule.ts';
export type { Timers } from './timers.ts';
export { retryPatch } from './transitions.ts';
