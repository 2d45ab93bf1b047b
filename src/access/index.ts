export { Access, type AccessOptions, type Caller, type Credentials } from './access.ts';
export { createApiKey, isApiKey } from './api-keys.ts';
export { firstStart, insertKey } from './first-start.ts';
export { type Claim, Idempotency, type RepeatKey } from './idempotency.ts';
export { PLAN_NAMES, planOf, withinPlan } from './plans.ts';
export { loadSecretKey } from './secret-key.ts';
export type { BucketState } from './token-bucket.ts';
