import type { ErrorObject } from 'ajv';
import type { ErrorDetail } from '../base/index.ts';
import { sentenceOfPattern } from './patterns.ts';

/** The part of the request that a value comes from. */
export type Source = 'body' | 'query';

const SUBJECTS: Record<Source, string> = { body: 'The request body', query: 'The query' };
const UNKNOWN_MEMBER: Record<Source, string> = {
	body: 'is not a known field',
	query: 'is not a known query parameter',
};
const FORMAT_MESSAGES: Readonly<Record<string, string>> = {
	'date-time': 'must be a date and time with a time zone, such as 2026-11-20T12:00:00Z',
	'time-zone': 'must be a time zone of the IANA database, such as Europe/London',
};
const TYPE_NAMES: Readonly<Record<string, string>> = {
	array: 'a list',
	boolean: 'true or false',
	integer: 'a whole number',
	null: 'null',
	number: 'a number',
	object: 'an object',
	string: 'a string',
};

/**
 * The errors of a validator for the client: each path with its reason, once. A reason is the end of a sentence that begins
 * with the path.
 * @param basePath JSON Pointer to the value in the request
 */
export function detailsOf(
	errors: readonly ErrorObject[],
	source: Source,
	basePath: string,
	maxDetails: number,
): ErrorDetail[] {
	const details = new Map<string, ErrorDetail>();
	for (const error of errors) {
		if (details.size === maxDetails) break;
		if (isImplied(error, errors)) continue;
		const detail = detailOf(error, source, basePath);
		details.set(`${detail.path} ${detail.message}`, detail);
	}
	return [...details.values()];
}

/** The sentence about an error. */
export function messageOfDetail({ path, message }: ErrorDetail, source: Source): string {
	return `${path === '' ? SUBJECTS[source] : path} ${message}.`;
}

/** The JSON Pointer (RFC 6901) to a top-level member. */
export function pointerTo(name: string): string {
	return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Whether an error is redundant, because the same value has a more precise one. */
function isImplied({ keyword, instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean {
	const others = (keywords: readonly string[]) =>
		errors.some((other) => other.instancePath === instancePath && keywords.includes(other.keyword));
	switch (keyword) {
		// The constant that distinguishes variants has its own errors: required, type and enum.
		case 'discriminator':
			return errors.length > 1;
		case 'type':
			return others(['enum']);
		case 'pattern':
			return others(['minLength']);
		default:
			return false;
	}
}

function detailOf({ keyword, instancePath, params, message }: ErrorObject, source: Source, at: string): ErrorDetail {
	const path = at + instancePath;
	switch (keyword) {
		case 'additionalProperties':
			return { path: path + pointerTo(params.additionalProperty), message: UNKNOWN_MEMBER[source] };
		case 'required':
			return { path: path + pointerTo(params.missingProperty), message: 'is required' };
		case 'type':
			return { path, message: `must be ${joinWithOr([params.type].flat().map((type) => TYPE_NAMES[type] ?? type))}` };
		case 'enum':
			return { path, message: `must be one of ${params.allowedValues.map(String).join(', ')}` };
		case 'const':
			return { path, message: `must be ${JSON.stringify(params.allowedValue)}` };
		case 'pattern':
			return { path, message: sentenceOfPattern(params.pattern) };
		case 'format':
			return { path, message: FORMAT_MESSAGES[params.format] ?? `must have the format ${params.format}` };
		default:
			return { path, message: boundsMessage(keyword, params) ?? message ?? 'is not valid' };
	}
}

/** The reason for a value that is out of bounds: too large, too long, too many, or the opposite. */
function boundsMessage(keyword: string, { limit, i, j }: ErrorObject['params']): string | undefined {
	switch (keyword) {
		case 'minimum':
			return `must be ${limit} or more`;
		case 'maximum':
			return `must be ${limit} or less`;
		case 'exclusiveMinimum':
			return `must be more than ${limit}`;
		case 'exclusiveMaximum':
			return `must be less than ${limit}`;
		case 'minLength':
			return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
		case 'maxLength':
			return `must have at most ${limit} characters`;
		case 'minItems':
			return limit === 1 ? 'must not be empty' : `must have at least ${limit} items`;
		case 'maxItems':
			return `must have at most ${limit} items`;
		case 'uniqueItems':
			return `must not have the same item twice (items ${Math.min(i, j)} and ${Math.max(i, j)})`;
		case 'minProperties':
			return limit === 1 ? 'must not be empty' : `must have at least ${limit} members`;
		case 'maxProperties':
			return `must have at most ${limit} members`;
		default:
			return undefined;
	}
}

function joinWithOr(choices: readonly string[]): string {
	return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}
