import { AppError } from '../../base/index.ts';
import { SCHEMA_VERSION } from './schema/migrations.ts';

/** This program is too old for the schema. */
export class OutdatedSchemaError extends AppError {
	constructor(message: string) {
		super('unavailable', message);
	}
}

/**
 * A schema of the next version can be used, because its steps only add. The one after it may have removed what this program reads.
 * @throws AppError `unavailable` with a sentence for the operator
 */
export function requireUsableSchema(version: number): void {
	if (version <= SCHEMA_VERSION + 1) return;
	throw new OutdatedSchemaError(
		`The database has schema version ${version}, this Parley can use ${SCHEMA_VERSION} and ${SCHEMA_VERSION + 1}. Start the newer Parley that wrote it.`,
	);
}
