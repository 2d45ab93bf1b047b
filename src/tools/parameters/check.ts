import { createContext, Script } from 'node:vm';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { AppError, LruCache } from '../../base/index.ts';
import type { ArgumentCheckJob, ArgumentCheckResult } from '../../contract/index.ts';
import { compileParameters } from './compile.ts';

/** Schemas that stay compiled. */
const VALIDATOR_CACHE_SIZE = 256;
const MAX_PROBLEM_CHARACTERS = 300;

/**
 * Milliseconds that a check may take. A pattern can take years for a text of forty characters, and nobody can tell so from
 * looking at it: so a check runs under a watch that ends it. A sound one takes less than one; the rest is for a busy machine.
 */
const CHECK_TIMEOUT_MS = 1_000;

/** Nothing runs in this context but the call of a function of ours: it is what the watch is set on. */
const timeLimitedContext = createContext(Object.create(null));
const callCheck = new Script('check()');

/** By the schema's text; null: one that cannot be compiled. */
const validators = new LruCache<string, ValidateFunction | null>(VALIDATOR_CACHE_SIZE);

/** Holds arguments against a schema. It may take as long as its time limit: not for the main thread. */
export function checkArguments({ schema, args }: ArgumentCheckJob): ArgumentCheckResult {
	const validator = validatorOf(schema);
	if (validator === null) return { verdict: 'no_schema' };
	try {
		return runWithTimeLimit(() => validator(args) as boolean)
			? { verdict: 'fits' }
			: { verdict: 'misfits', complaint: problemOf(validator.errors) };
	} catch (thrown) {
		if ((thrown as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw thrown;
		return { verdict: 'too_slow' };
	}
}

function validatorOf(schema: Record<string, unknown>): ValidateFunction | null {
	const text = JSON.stringify(schema);
	let validator = validators.get(text);
	if (validator === undefined) {
		validator = compile(schema);
		validators.set(text, validator);
	}
	return validator;
}

function compile(schema: Record<string, unknown>): ValidateFunction | null {
	try {
		return compileParameters(schema);
	} catch (thrown) {
		if (thrown instanceof AppError) return null;
		throw thrown;
	}
}

function runWithTimeLimit(check: () => boolean): boolean {
	timeLimitedContext.check = check;
	try {
		return callCheck.runInContext(timeLimitedContext, { timeout: CHECK_TIMEOUT_MS });
	} finally {
		timeLimitedContext.check = undefined;
	}
}

function problemOf(errors: ErrorObject[] | null | undefined): string {
	const [error] = errors ?? [];
	if (!error) return 'they are not valid';
	const subject = error.instancePath === '' ? 'they' : error.instancePath;
	return `${subject} ${error.message}${errorDetail(error)}`.slice(0, MAX_PROBLEM_CHARACTERS);
}

/** What a message of ajv leaves out and whoever has to mend it needs. */
function errorDetail({ keyword, params }: ErrorObject): string {
	if (keyword === 'additionalProperties') return ` (${params.additionalProperty})`;
	if (keyword === 'enum') return ` (${JSON.stringify(params.allowedValues)})`;
	return '';
}
