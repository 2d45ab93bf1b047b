import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { AppError, type ErrorDetail } from '../base/index.ts';

const options = {
	allErrors: false,
	strict: true,
	useDefaults: false,
	allowUnionTypes: true,
	verbose: false,
	discriminator: true,
	// The schemas are our own; the tests hold them against the rules of schemas.
	validateSchema: false,
} as const;

const FIRST_SHOWN = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_SHOWN = Date.parse('9999-12-31T23:59:59.999Z');

/** Bodies come as JSON: nothing is coerced. */
const bodies = new Ajv(options);
/** Query strings hold only text: numbers and booleans are read from it. */
const queries = new Ajv({ ...options, coerceTypes: true });
const dateTime = addFormats.default.get('date-time') as { validate(text: string): boolean };
for (const ajv of [bodies, queries]) {
	// RFC 3339 has leap seconds, which no Date can hold.
	ajv.addFormat('date-time', (text) => dateTime.validate(text) && isShown(Date.parse(text)));
	ajv.addFormat('binary', true);
}

/** Whether a moment can be shown with a year of four digits; NaN is none. */
function isShown(at: number): boolean {
	return at >= FIRST_SHOWN && at <= LAST_SHOWN;
}

/** Checks a value and gives it its type, or throws `invalid_request` with the place and the reason. */
export type Validator<T> = (value: unknown) => T;

/**
 * A validator of JSON bodies.
 * @param at where the value stands in the body, as a JSON Pointer, where it is a part of one
 */
export function bodyValidator<T extends TSchema>(schema: T, at = ''): Validator<Static<T>> {
	return validator(() => bodies.compile(schema), at);
}

/** A validator of query strings; the values are coerced from text in place. */
export function queryValidator<T extends TSchema>(schema: T): Validator<Static<T>> {
	return validator(() => queries.compile(schema), '');
}

/** Compiles with the first value: all schemas together would take most of the time that the server takes to start. */
function validator<T>(compile: () => ValidateFunction, at: string): Validator<T> {
	let check: ValidateFunction | undefined;
	return (value) => {
		check ??= compile();
		if (check(value)) return value as T;
		const details = (check.errors ?? []).map((error) => detailOf(error, at));
		const first = details[0];
		throw new AppError('invalid_request', first ? sentence(first) : undefined, { details });
	};
}

function detailOf(error: ErrorObject, at: string): ErrorDetail {
	const path = at + error.instancePath;
	switch (error.keyword) {
		case 'additionalProperties':
			return { path: path + pointerTo(error.params.additionalProperty), message: 'is not a known field' };
		case 'required':
			return { path: path + pointerTo(error.params.missingProperty), message: 'is required' };
		case 'enum':
			return { path, message: `must be one of ${error.params.allowedValues.map(String).join(', ')}` };
		default:
			return { path, message: error.message ?? 'is not valid' };
	}
}

/** The JSON Pointer (RFC 6901) to a member at the top. */
export function pointerTo(name: string): string {
	return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function sentence({ path, message }: ErrorDetail): string {
	return path === '' ? `The request ${message}.` : `${path} ${message}.`;
}
