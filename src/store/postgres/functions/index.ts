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

/** The functions of this program. Each schema version has its own, so that nodes of two versions can work on one database. */
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

/** The schema that holds them. */
export const FUNCTION_SCHEMA = `parley_${SCHEMA_VERSION}`;

/** Tells whether the database has these functions. */
export const FUNCTIONS_CHECKSUM = createHash('sha256').update(FUNCTIONS).digest('hex');
