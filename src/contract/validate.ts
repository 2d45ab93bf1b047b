import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { AppError } from '../base/index.ts';
import { detailsOf, messageOfDetail, type Source } from './validation-details.ts';

const options = {
	strict: true,
	useDefaults: false,
	allowUnionTypes: true,
	verbose: false,
	discriminator: true,
	// The schemas are our own; the tests hold them against the rules of schemas.
	validateSchema: false,
} as const;

/** Complaints that one answer lists. */
const MAX_DETAILS = 20;
/** For a value with more members and items than this only the first fault is reported: each may have several, and all would be held in memory. */
const MAX_NODES = 2_000;

const MIN_TIMESTAMP = Date.parse('0000-01-01T00:00:00.000Z');
const MAX_TIMESTAMP = Date.parse('9999-12-31T23:59:59.999Z');
const dateTime = addFormats.default.get('date-time') as { validate(text: string): boolean };

/** Compilers of one kind of values: one whose validators stop at the first fault, and one whose validators look for all. */
interface Compilers {
	first: Ajv;
	all: Ajv;
}

const COMPILERS: Record<Source, Compilers> = {
	/** Bodies come as JSON: nothing is coerced. */
	body: compilers(false),
	/** Query strings hold only text: numbers and booleans are read from it. */
	query: compilers(true),
};

function compilers(coerceTypes: boolean): Compilers {
	const [first, all] = [false, true].map((allErrors) => {
		const ajv = new Ajv({ ...options, coerceTypes, allErrors });
		// RFC 3339 has leap seconds, which no Date can hold.
		ajv.addFormat('date-time', (text) => dateTime.validate(text) && isRepresentable(Date.parse(text)));
		ajv.addFormat('binary', true);
		return ajv;
	}) as [Ajv, Ajv];
	return { first, all };
}

/** Whether a moment can be shown with a year of four digits; NaN is none. */
function isRepresentable(at: number): boolean {
	return at >= MIN_TIMESTAMP && at <= MAX_TIMESTAMP;
}

/** Checks a value and gives it its type, or throws `invalid_request` with the places and the reasons. */
export type Validator<T> = (value: unknown) => T;

/**
 * A validator of JSON bodies.
 * @param at where the value stands in the body, as a JSON Pointer, where it is a part of one
 */
export function bodyValidator<T extends TSchema>(schema: T, at = ''): Validator<Static<T>> {
	return validator(schema, 'body', at);
}

/** A validator of query strings; the values are coerced from text in place. */
export function queryValidator<T extends TSchema>(schema: T): Validator<Static<T>> {
	return validator(schema, 'query', '');
}

/**
 * Compiles with the first value, and what finds all faults with the first value that has one: all schemas together would take
 * most of the time that the server takes to start. A sound value costs the fast validator alone.
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

/** Whether a value has more members and items than are looked through for all their faults. */
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
