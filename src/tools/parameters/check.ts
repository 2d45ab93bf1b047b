import { createContext, Script } from 'node:vm';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { AppError, LruCache } from '../../base/index.ts';
import type { ArgumentCheckJob, ArgumentCheckResult } from '../../contract/index.ts';
import { compileParameters } from './compile.ts';

/** Compiled schemas that are cached. */
const VALIDATOR_CACHE_SIZE = 256;
const MAX_PROBLEM_CHARACTERS = 300;

/**
 * Milliseconds that a validation may take. A pattern can take years for a text of forty characters, which cannot be detected
 * in advance: so each validation has a timeout. A normal one takes less than 1 ms; the rest is for a busy machine.
 */
const CHECK_TIMEOUT_MS = 1_000;

/** This context runs only the call of one function of this module: `vm` can time it out. */
const timeLimitedContext = createContext(Object.create(null));
const callCheck = new Script('check()');

/** By the schema's text; null: a schema that cannot be compiled. */
const validators = new LruCache<string, ValidateFunction | null>(VALIDATOR_CACHE_SIZE);

/** Validates arguments against a schema. It may take as long as its time limit: not for the main thread. */
export function checkArguments({ schema, args }: ArgumentCheckJob): ArgumentCheckResult {
	const validator = validatorOf(schema);
	if (validator === null) return { verdict: 'no_schema' };
	try {
		return runWithTimeLimit(() => validator(args) as boolean)
			? { verdict: 'valid' }
			: { verdict: 'invalid', problem: problemOf(validator.errors) };
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

/** The detail that ajv's message lacks and the author of the arguments needs. */
function errorDetail({ keyword, params }: ErrorObject): string {
	if (keyword === 'additionalProperties') return ` (${params.additionalProperty})`;
	if (keyword === 'enum') return ` (${JSON.stringify(params.allowedValues)})`;
	return '';
}
