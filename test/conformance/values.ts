import fc, { type Arbitrary } from 'fast-check';
import type { ApiDescription, JsonSchema } from '../support/openapi.ts';

/** Longest generated text. If more is allowed, the longest allowed text is tried as well, up to `WHOLE_TEXT`. */
const SHORT_TEXT = 40;
const WHOLE_TEXT = 40_000;

/** Texts that are valid in every field for people. */
const PROSE = 'Grüße, 世界! 👋';

/** Texts of any characters that JSON allows, NUL and all planes included. Lengths are in characters, as in schemas. */
const text = (minLength: number, maxLength: number) => fc.string({ unit: 'binary', minLength, maxLength });

/** How many optional members a generated object has. */
type Fill = 'some' | 'all';

/**
 * Values that a schema of the document allows. It supports the keywords that the contract uses and throws for others,
 * because a value that ignores a keyword would test nothing.
 * @param fill `all`: every object has all members, and no list is empty
 */
export function valuesOf(api: ApiDescription, given: JsonSchema, fill: Fill = 'some'): Arbitrary<unknown> {
	const schema = api.resolve<JsonSchema>(given);
	const { oneOf, anyOf } = schema;
	const variants = oneOf ?? anyOf;
	if (variants) {
		const own = fill === 'all' ? variants.filter((each) => api.resolve<JsonSchema>(each).type !== 'null') : variants;
		return fc.oneof(...own.map((each) => valuesOf(api, each, fill)));
	}
	if (schema.allOf) throw new Error('Values of allOf cannot be made up.');
	if ('const' in schema) return fc.constant(schema.const);
	if (schema.enum) {
		const allowed = fill === 'all' ? schema.enum.filter((value) => value !== null) : schema.enum;
		return fc.constantFrom(...allowed);
	}
	const types = [schema.type ?? []].flat();
	if (types.length === 0) return fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' });
	const wanted = fill === 'all' ? types.filter((type) => type !== 'null') : types;
	return fc.oneof(...wanted.map((type) => ofType(api, schema, type, fill)));
}

function ofType(api: ApiDescription, schema: JsonSchema, type: string, fill: Fill): Arbitrary<unknown> {
	switch (type) {
		case 'null':
			return fc.constant(null);
		case 'boolean':
			return fc.boolean();
		case 'integer':
			return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1_000_000 });
		case 'number':
			return fc.double({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1000, noNaN: true });
		case 'string':
			return texts(schema);
		case 'array':
			return lists(api, schema, fill);
		case 'object':
			return objects(api, schema, fill);
		default:
			throw new Error(`There is no type ${type}.`);
	}
}

function texts({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format, examples = [] }: JsonSchema) {
	const chosen = (examples as string[]).filter((example) => typeof example === 'string');
	const also = (made: Arbitrary<string>) => (chosen.length === 0 ? made : fc.oneof(made, fc.constantFrom(...chosen)));
	if (format === 'date-time') {
		const day = { min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true };
		return also(fc.date(day).map((date) => date.toISOString()));
	}
	if (format === 'time-zone') return also(fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata'));
	const fits = (value: string) => [...value].length >= minLength && [...value].length <= maxLength;
	const rule = pattern === undefined ? null : new RegExp(pattern, 'u');
	if (rule && !rule.test(PROSE)) return also(fc.stringMatching(rule).filter(fits));
	// Ordinary prose meets the pattern, so most generated texts meet it too.
	const any = text(minLength, Math.min(maxLength, Math.max(minLength, SHORT_TEXT)));
	const made = rule ? any.filter((value) => rule.test(value)) : any;
	if (maxLength > WHOLE_TEXT) return also(made);
	const longest = fc.constantFrom('x', 'ß', '😀').map((character) => character.repeat(maxLength));
	return also(fc.oneof({ weight: 6, arbitrary: made }, { weight: 1, arbitrary: longest }));
}

function lists(api: ApiDescription, schema: JsonSchema, fill: Fill): Arbitrary<unknown> {
	const { items = {}, minItems = 0, maxItems = 5, uniqueItems } = schema;
	const length = { minLength: fill === 'all' ? Math.max(1, minItems) : minItems, maxLength: Math.min(maxItems, 5) };
	const item = valuesOf(api, items, fill);
	return uniqueItems
		? fc.uniqueArray(item, { ...length, selector: (value) => JSON.stringify(value) })
		: fc.array(item, length);
}

function objects(api: ApiDescription, schema: JsonSchema, fill: Fill): Arbitrary<unknown> {
	const { properties = {}, patternProperties = {}, additionalProperties, required = [], maxProperties = 5 } = schema;
	const members = Object.entries(properties).map(([name, its]) => [name, valuesOf(api, its, fill)] as const);
	const known = fc.record(Object.fromEntries(members), fill === 'all' ? {} : { requiredKeys: required });
	const others = [
		...Object.values(patternProperties),
		...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
	];
	const [free] = others;
	const isFree = members.length === 0 && additionalProperties !== false;
	if (!free && !isFree) return known;
	const more = fc.dictionary(text(0, 12), valuesOf(api, free ?? {}), { maxKeys: Math.min(maxProperties, 5) });
	return members.length === 0 ? more : fc.tuple(known, more).map(([own, rest]) => ({ ...rest, ...own }));
}
