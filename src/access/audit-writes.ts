import type { UserRecord, Write } from '../store/index.ts';

/**
 * Makes the writes that record what a user has done in the audit log, for the commit of the change.
 * @param action what is recorded; default: the request's operation
 * @param fields the names of the fields that change; default: those of the request
 */
export type AuditWrites = (
	user: UserRecord,
	changed: { id: string },
	action?: string,
	fields?: readonly string[],
) => Write[];
