import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { AppError, isTimeZone } from '../base/index.ts';
import { detailsOf, messageOfDetail, type Source } from './validation-details.ts';

const options = {
	strict: true,
	useDefaults: false,
	allowUnionTypes: true,
	verbose: false,
	discriminator: true,
	// The schemas are part of this code; a test validates them.
	validateSchema: false,
} as const;

/** Errors that one response lists. */
const MAX_DETAILS = 20;
/** For a value with more members and items, only the first error is reported: each may have several, and all would be in memory. */
const MAX_NODES = 2_000;

const MIN_TIMESTAMP = Date.parse('0000-01-01T00:00:00.000Z');
const MAX_TIMESTAMP = Date.parse('9999-12-31T23:59:59.999Z');
const dateTime = addFormats.default.get('date-time') as { validate(text: string): boolean };

/** Two compilers for one kind of value: the validators of `first` stop at the first error, those of `all` find all errors. */
interface Compilers {
	first: Ajv;
	all: Ajv;
}

const COMPILERS: Record<Source, Compilers> = {
	/** Bodies are JSON: nothing is coerced. */
	body: compilers(false),
	/** Query strings are text: numbers and booleans are parsed from it. */
	query: compilers(true),
};

function compilers(coerceTypes: boolean): Compilers {
	const [first, all] = [false, true].map((allErrors) => {
		const ajv = new Ajv({ ...options, coerceTypes, allErrors });
		// RFC 3339 allows leap seconds, which a Date cannot represent.
		ajv.addFormat('date-time', (text) => dateTime.validate(text) && isRepresentable(Date.parse(text)));
		ajv.addFormat('time-zone', isTimeZone);
		ajv.addFormat('binary', true);
		return ajv;
	}) as [Ajv, Ajv];
	return { first, all };
}

/** Whether a time has a year of four digits; false for NaN. */
function isRepresentable(at: number): boolean {
	return at >= MIN_TIMESTAMP && at <= MAX_TIMESTAMP;
}

/** Returns a value with its type, or throws `invalid_request` with the path and reason of each error. */
export type Validator<T> = (value: unknown) => T;

/**
 * A validator of JSON bodies.
 * @param at JSON Pointer to the value, if it is a part of the body
 */
export function bodyValidator<T extends TSchema>(schema: T, at = ''): Validator<Static<T>> {
	return validator(schema, 'body', at);
}

/** A validator of query strings; the values are coerced from text in place. */
export function queryValidator<T extends TSchema>(schema: T): Validator<Static<T>> {
	return validator(schema, 'query', '');
}

/**
 * Compiles the first validator at the first value, and the one for all errors at the first invalid value: compiling all
 * schemas at once would take most of the server's start time. A valid value costs the fast validator only.
 */
function validator<T>(schema: TSchema, source: Source, at: string): Validator<T> {
	const { first, all } = COMPILERS[source];
	let check: ValidateFunction | undefined;
	let checkAll: ValidateFunction | undefined;
	return (value) => {
		check ??= first.compile(schema);
		if (check(value)) return value as T;
		let { errors } = check;
		if (!isLarge(value)) {
			checkAll ??= all.compile(schema);
			if (!checkAll(value)) errors = checkAll.errors;
		}
		const details = detailsOf(errors ?? [], source, at, MAX_DETAILS);
		const [firstDetail] = details;
		throw new AppError('invalid_request', firstDetail && messageOfDetail(firstDetail, source), { details });
	};
}

/** Whether a value has too many members and items to find all errors. */
function isLarge(value: unknown): boolean {
	let nodes = 0;
	const queue: unknown[] = [value];
	while (queue.length > 0) {
		const next = queue.pop();
		if (typeof next !== 'object' || next === null) continue;
		const members = Array.isArray(next) ? next : Object.values(next);
		nodes += members.length;
		if (nodes > MAX_NODES) return true;
		for (const member of members) queue.push(member);
	}
	return false;
}
