import { createHash } from 'node:crypto';
import { SCHEMA_VERSION } from '../schema/migrations.ts';
import { BLOB_FUNCTIONS } from './blobs.ts';
import { COMMIT_FUNCTIONS } from './commit.ts';
import { DELIVERY_FUNCTIONS } from './deliveries.ts';
import { JOB_FUNCTIONS } from './jobs.ts';
import { LIMIT_FUNCTIONS } from './limits.ts';
import { PLACEMENT_FUNCTIONS } from './placement.ts';
import { recordFunctions } from './records.ts';
import { SPENDING_FUNCTIONS } from './spending.ts';

/** The functions of this program. */
export const FUNCTIONS = [
	PLACEMENT_FUNCTIONS,
	JOB_FUNCTIONS,
	recordFunctions(),
	DELIVERY_FUNCTIONS,
	SPENDING_FUNCTIONS,
	COMMIT_FUNCTIONS,
	BLOB_FUNCTIONS,
	LIMIT_FUNCTIONS,
].join('\n');

const checksum = createHash('sha256').update(FUNCTIONS).digest('hex').slice(0, 8);

/**
 * The schema that holds them, and nothing else. Programs with other functions have schemas of their own, so that nodes of two versions can
 * work on one database.
 */
export const FUNCTION_SCHEMA = `parley_${SCHEMA_VERSION}_${checksum}`;

/** The names of such schemas. The first group is the version of the tables. */
export const FUNCTION_SCHEMAS = /^parley_(\d+)_[0-9a-f]{8}$/;
