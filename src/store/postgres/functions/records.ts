import { columnsOf, kinds } from '../../columns/columns.ts';
import type { Kind } from '../../records.ts';

/** The functions that read, insert, patch and remove one record, for each kind: their statements are planned once a connection. */
export function recordFunctions(): string {
	return [...kinds().map(functionsOf), LOCK_RECORD, WRITE_RECORD].join('\n');
}

function functionsOf(kind: Kind): string {
	const columns = columnsOf(kind);
	const patched = columns.filter((column) => column !== 'id' && column !== 'version');
	const assignments = patched.map(
		(name) => `${name} = CASE WHEN p_fields ? '${name}' THEN r.${name} ELSE t.${name} END`,
	);
	return `
		CREATE FUNCTION insert_${kind}(p_fields jsonb) RETURNS void LANGUAGE plpgsql AS $$
		#variable_conflict use_column
		BEGIN
			INSERT INTO ${kind} (${columns}) SELECT ${columns} FROM jsonb_populate_record(NULL::${kind}, p_fields);
		END $$;
		CREATE FUNCTION patch_${kind}(p_id text, p_fields jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
		#variable_conflict use_column
		BEGIN
			UPDATE ${kind} AS t SET version = t.version + 1, ${assignments.join(', ')}
			FROM jsonb_populate_record(NULL::${kind}, p_fields) AS r WHERE t.id = p_id;
			RETURN FOUND;
		END $$;
		CREATE FUNCTION remove_${kind}(p_id text) RETURNS void LANGUAGE plpgsql AS $$
		#variable_conflict use_column
		BEGIN
			DELETE FROM ${kind} WHERE id = p_id;
		END $$;
		CREATE FUNCTION lock_${kind}(p_id text, p_is_written boolean) RETURNS bigint LANGUAGE plpgsql AS $$
		#variable_conflict use_column
		DECLARE found_version bigint;
		BEGIN
			IF p_is_written THEN
				SELECT version INTO found_version FROM ${kind} WHERE id = p_id FOR UPDATE;
			ELSE
				SELECT version INTO found_version FROM ${kind} WHERE id = p_id FOR SHARE;
			END IF;
			RETURN coalesce(found_version, 0);
		END $$;`;
}

/** Kinds that messages write, first: a CASE compares one after the other. */
const FREQUENT: readonly Kind[] = ['messages', 'conversations', 'deliveries'];

function dispatch(call: (kind: Kind) => string): string {
	const ordered = [...FREQUENT, ...kinds().filter((kind) => !FREQUENT.includes(kind))];
	return ordered.map((kind) => `WHEN '${kind}' THEN ${call(kind)};`).join('\n\t\t');
}

/** The version of a record, which stays as it is until the transaction ends; 0: there is no record. */
const LOCK_RECORD = `
	CREATE FUNCTION lock_record(kind text, p_id text, p_is_written boolean) RETURNS bigint LANGUAGE plpgsql AS $$
		#variable_conflict use_column
		BEGIN
		CASE kind
		${dispatch((kind) => `RETURN lock_${kind}(p_id, p_is_written)`)}
		END CASE;
	END $$;`;

/** Carries out an insert, a patch or a removal. @returns whether there was a record to patch */
const WRITE_RECORD = `
	CREATE FUNCTION write_record(op text, kind text, p_id text, p_fields jsonb) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
		CASE op
		WHEN 'insert' THEN
			CASE kind
			${dispatch((kind) => `PERFORM insert_${kind}(p_fields)`)}
			END CASE;
		WHEN 'patch' THEN
			CASE kind
			${dispatch((kind) => `RETURN patch_${kind}(p_id, p_fields)`)}
			END CASE;
		WHEN 'remove' THEN
			CASE kind
			${dispatch((kind) => `PERFORM remove_${kind}(p_id)`)}
			END CASE;
		END CASE;
		RETURN true;
	END $$;`;
