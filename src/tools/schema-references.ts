import { refusedAt } from './refusal.ts';

/** Schemas that one may come to, each reference counted as all that it leads to. */
const MAX_SCHEMAS = 500;

/** Keywords that lead elsewhere, or change where a reference leads, in ways that none of ours needs. */
const FOREIGN = [
	'$id',
	'id',
	'$anchor',
	'$dynamicAnchor',
	'$dynamicRef',
	'$recursiveAnchor',
	'$recursiveRef',
	'$async',
];

/** Where a schema holds schemas: as a value (or an array of values), or as the members of an object. */
const SCHEMAS = [
	...['additionalItems', 'additionalProperties', 'allOf', 'anyOf', 'contains', 'contentSchema', 'else', 'if', 'items'],
	...['not', 'oneOf', 'prefixItems', 'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
];
const MAPS_OF_SCHEMAS = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'];

/**
 * Sees to it that checking a value against a schema ends, and soon: references lead to places in it, never back to where
 * they stand, and do not multiply without bound.
 * @throws AppError `invalid_request`
 */
export function requireFiniteSchema(root: object): void {
	const counts = new Map<object, number>();
	const open = new Set<object>();

	/** How many schemas one is, all those that it leads to included. */
	const count = (schema: object): number => {
		const known = counts.get(schema);
		if (known !== undefined) return known;
		if (open.has(schema)) throw refused('has a $ref that leads back to where it stands');
		open.add(schema);
		let sum = 1;
		for (const next of partsOf(schema)) {
			sum += count(next);
			if (sum > MAX_SCHEMAS) throw refused(`comes to more than ${MAX_SCHEMAS} schemas, references counted each time`);
		}
		open.delete(schema);
		counts.set(schema, sum);
		return sum;
	};

	const partsOf = (schema: object): object[] => {
		const keywords = schema as Record<string, unknown>;
		for (const keyword of FOREIGN) {
			if (Object.hasOwn(keywords, keyword)) throw refused(`must not use ${keyword}`);
		}
		return [
			...(Object.hasOwn(keywords, '$ref') ? [target(root, keywords.$ref)] : []),
			...SCHEMAS.flatMap((keyword) => own(keywords, keyword)).flat(),
			...MAPS_OF_SCHEMAS.flatMap((keyword) => own(keywords, keyword)).flatMap((map) => Object.values(map as object)),
		].filter(isSchema);
	};

	count(root);
}

/** What a reference leads to. */
function target(root: object, reference: unknown): unknown {
	const refuse = () => refused('may use $ref only for a place in itself that is there: "#/$defs/…"');
	if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) throw refuse();
	let place: unknown = root;
	for (const escaped of reference.split('/').slice(1)) {
		const name = unescaped(escaped);
		if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) throw refuse();
		place = (place as Record<string, unknown>)[name];
	}
	if (typeof place !== 'boolean' && !isSchema(place)) throw refuse();
	return place;
}

/** A name of a JSON Pointer in a URI fragment (RFC 6901, 6). */
function unescaped(name: string): string {
	try {
		return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
	} catch {
		throw refused('has a $ref that is not a valid JSON Pointer');
	}
}

function own(keywords: Record<string, unknown>, keyword: string): unknown[] {
	return Object.hasOwn(keywords, keyword) ? [keywords[keyword]] : [];
}

function isSchema(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(message: string) {
	return refusedAt(['config', 'parameters'], message);
}
