import fc, { type Arbitrary } from 'fast-check';
import type { ApiDescription, JsonSchema } from '../support/openapi.ts';
import { valuesOf } from './values.ts';

/** Values with exactly one error by a schema. */
export interface Fault {
	/** The error in words. */
	what: string;
	/** The path, as a JSON Pointer. */
	path: string;
	values: Arbitrary<unknown>;
}

const UNKNOWN = 'nonesuch';
/** A longer text is not sent: it would test the network, or the limit of a body. */
const LONGEST = 950_000;

const fitsIntoBody = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) < LONGEST;

/** Every single error that a schema of the document can detect in a value. */
export function faultsOf(api: ApiDescription, given: JsonSchema): Fault[] {
	const schema = api.resolve<JsonSchema>(given);
	if (schema.oneOf && schema.discriminator) {
		// An error of the constant that distinguishes the variants is the same in each variant, so it is tried once.
		return unique(schema.oneOf.flatMap((variant) => faultsOf(api, variant)));
	}
	// A value that one branch rejects may match another.
	if (schema.oneOf || schema.anyOf) return [];
	const types = [schema.type ?? []].flat();
	if (types.length === 0 && !('const' in schema) && !schema.enum) return [];
	return [
		...wrongTypes(schema, types),
		...wrongChoices(schema),
		...(types.includes('string') && !schema.enum ? wrongTexts(schema) : []),
		...(types.includes('integer') || types.includes('number') ? wrongNumbers(schema, types) : []),
		...(types.includes('array') ? wrongLists(api, schema) : []),
		...(types.includes('object') ? wrongObjects(api, schema) : []),
	];
}

const at = (what: string, value: unknown, path = ''): Fault => ({ what, path, values: fc.constant(value) });

function wrongTypes(schema: JsonSchema, types: string[]): Fault[] {
	if (types.length === 0) return [];
	const others: Array<[type: string, value: unknown]> = [
		['null', null],
		['string', 'words'],
		['number', 1.5],
		['boolean', true],
		['array', []],
		['object', {}],
	];
	const wrong = others.filter(([type]) => !types.includes(type) && !(type === 'number' && types.includes('integer')));
	return wrong.map(([type, value]) => at(`${type} instead of ${[schema.type].flat().join(' or ')}`, value));
}

function wrongChoices(schema: JsonSchema): Fault[] {
	if (schema.enum) return [at('not one of the choices', UNKNOWN)];
	return 'const' in schema ? [at('not the constant', UNKNOWN)] : [];
}

function wrongTexts({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format }: JsonSchema): Fault[] {
	const faults: Fault[] = [];
	if (minLength > 0) faults.push(at('too short', 'x'.repeat(minLength - 1)));
	if (maxLength < LONGEST) faults.push(at('too long', 'x'.repeat(maxLength + 1)));
	if (format === 'date-time') faults.push(at('no moment', '2026-02-30T12:00:00Z'));
	if (format === 'time-zone') faults.push(at('no time zone', 'Mars/Olympus'));
	if (pattern) {
		const candidates = ['not this, surely!', ' ', 'two words', '#12', 'ä', '\n', '\u0000'];
		const broken = candidates.find((each) => !new RegExp(pattern, 'u').test(each) && each.length >= minLength);
		if (broken !== undefined) faults.push(at('breaks the pattern', broken));
	}
	return faults;
}

function wrongNumbers({ minimum, maximum }: JsonSchema, types: string[]): Fault[] {
	return [
		...(minimum === undefined ? [] : [at('too small', minimum - 1)]),
		...(maximum === undefined ? [] : [at('too large', maximum + 1)]),
		...(types.includes('integer') ? [at('a fraction', (minimum ?? 0) + 0.5)] : []),
	];
}

function wrongLists(api: ApiDescription, schema: JsonSchema): Fault[] {
	const { items = {}, minItems = 0, maxItems, uniqueItems } = schema;
	const faults: Fault[] = faultsOf(api, items).map(({ what, path, values }) => ({
		what,
		path: `/0${path}`,
		values: values.map((value) => [value]),
	}));
	if (minItems > 0) faults.push(at('too few', []));
	const item = valuesOf(api, items, 'all');
	if (uniqueItems) faults.push({ what: 'twice the same', path: '', values: item.map((value) => [value, value]) });
	else if (maxItems !== undefined) {
		const lists = item.map((value) => Array(maxItems + 1).fill(value));
		faults.push({ what: 'too many', path: '', values: lists.filter(fitsIntoBody) });
	}
	return faults;
}

function wrongObjects(api: ApiDescription, schema: JsonSchema): Fault[] {
	const { properties = {}, additionalProperties, required = [], maxProperties } = schema;
	const valid = Object.fromEntries(
		Object.entries(properties).map(([name, its]) => [name, valuesOf(api, its, 'all')] as const),
	);
	const faults: Fault[] = Object.entries(properties).flatMap(([name, its]) =>
		faultsOf(api, its).map(({ what, path, values }) => ({
			what,
			path: `/${name}${path}`,
			values: fc.record({ ...valid, [name]: values }),
		})),
	);
	for (const name of required) {
		const { [name]: _missing, ...others } = valid;
		faults.push({ what: 'missing', path: `/${name}`, values: fc.record(others) });
	}
	if (additionalProperties === false) {
		const values = fc.record({ ...valid, [UNKNOWN]: fc.constant('x') });
		faults.push({ what: 'unknown', path: `/${UNKNOWN}`, values });
	}
	if (typeof additionalProperties === 'object') {
		for (const { what, path, values } of faultsOf(api, additionalProperties)) {
			faults.push({ what, path: `/${UNKNOWN}${path}`, values: values.map((value) => ({ [UNKNOWN]: value })) });
		}
		if (maxProperties !== undefined) {
			const value = valuesOf(api, additionalProperties);
			const names = Array.from({ length: maxProperties + 1 }, (_, index) => `name-${index}`);
			faults.push({
				what: 'too many',
				path: '',
				values: value.map((each) => Object.fromEntries(names.map((name) => [name, each]))),
			});
		}
	}
	return faults;
}

function unique(faults: Fault[]): Fault[] {
	const seen = new Set<string>();
	return faults.filter(({ what, path }) => !seen.has(`${path} ${what}`) && seen.add(`${path} ${what}`));
}
