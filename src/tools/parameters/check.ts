import { createContext, Script } from 'node:vm';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { AppError, LruCache } from '../../base/index.ts';
import type { ArgumentCheckJob, ArgumentCheckResult } from '../../contract/index.ts';
import { compileParameters } from './compile.ts';

/** Schemas that stay compiled. */
const COMPILED = 256;
const MAX_COMPLAINT = 300;

/**
 * Milliseconds that a check may take. A pattern can take years for a text of forty characters, and nobody can tell so from
 * looking at it: so a check runs under a watch that ends it. A sound one takes less than one; the rest is for a busy machine.
 */
const CHECK_MS = 1_000;

/** Nothing runs in this context but the call of a function of ours: it is what the watch is set on. */
const watched = createContext(Object.create(null));
const callWatched = new Script('check()');

/** By the schema's text; null: one that cannot be compiled. */
const compiled = new LruCache<string, ValidateFunction | null>(COMPILED);

/** Holds arguments against a schema. It may take as long as its time limit: not for the main thread. */
export function checkArguments({ schema, args }: ArgumentCheckJob): ArgumentCheckResult {
	const check = validatorOf(schema);
	if (check === null) return { verdict: 'no_schema' };
	try {
		return withinWatch(() => check(args) as boolean)
			? { verdict: 'fits' }
			: { verdict: 'misfits', complaint: complaint(check.errors) };
	} catch (thrown) {
		if ((thrown as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw thrown;
		return { verdict: 'too_slow' };
	}
}

function validatorOf(schema: Record<string, unknown>): ValidateFunction | null {
	const text = JSON.stringify(schema);
	let check = compiled.get(text);
	if (check === undefined) {
		check = compile(schema);
		compiled.set(text, check);
	}
	return check;
}

function compile(schema: Record<string, unknown>): ValidateFunction | null {
	try {
		return compileParameters(schema);
	} catch (thrown) {
		if (thrown instanceof AppError) return null;
		throw thrown;
	}
}

function withinWatch(check: () => boolean): boolean {
	watched.check = check;
	try {
		return callWatched.runInContext(watched, { timeout: CHECK_MS });
	} finally {
		watched.check = undefined;
	}
}

function complaint(errors: ErrorObject[] | null | undefined): string {
	const [error] = errors ?? [];
	if (!error) return 'they are not valid';
	const place = error.instancePath === '' ? 'they' : error.instancePath;
	return `${place} ${error.message}${named(error)}`.slice(0, MAX_COMPLAINT);
}

/** What a message of ajv leaves out and whoever has to mend it needs. */
function named({ keyword, params }: ErrorObject): string {
	if (keyword === 'additionalProperties') return ` (${params.additionalProperty})`;
	if (keyword === 'enum') return ` (${JSON.stringify(params.allowedValues)})`;
	return '';
}
