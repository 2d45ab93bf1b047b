/**
 * A stored record. Times are integer milliseconds since the epoch. `version` starts at 1 and grows by one with every write
 * of the record; it is the resource's ETag.
 */
export interface VersionedRecord {
	id: string;
	version: number;
	created_at: number;
}

/** A record that belongs to one workspace. */
export interface WorkspaceScopedRecord extends VersionedRecord {
	workspace_id: string;
	updated_at: number;
}
