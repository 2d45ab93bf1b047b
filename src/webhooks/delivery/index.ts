export type { Alarms } from './alarms.ts';
export { CANCELLED_AT_ONCE } from './attempts.ts';
export { Deliverer, type DelivererOptions } from './deliverer.ts';
export { lastAttemptAt, SCHEDULE } from './schedule.ts';
export { retried } from './transitions.ts';
