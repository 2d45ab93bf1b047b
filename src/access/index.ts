export { Access, type AccessOptions, type Caller } from './access.ts';
export { createApiKey, isApiKey } from './api-keys.ts';
export { firstStart, insertKey } from './first-start.ts';
export { loadSecretKey } from './secret-key.ts';
export type { BucketState } from './token-bucket.ts';
