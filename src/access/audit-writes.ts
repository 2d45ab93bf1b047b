import type { UserRecord, Write } from '../store/index.ts';

/** Makes the writes that record what a user has done in the audit log, for the commit of the change. */
export type AuditWrites = (user: UserRecord, changed: { id: string }) => Write[];
