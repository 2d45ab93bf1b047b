export type { Settlement } from './groups.ts';
export { Statistics, type StatisticsOptions } from './statistics.ts';
