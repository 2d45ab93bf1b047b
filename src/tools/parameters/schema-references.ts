import { invalidRequestAt } from '../invalid-request.ts';

/**
 * Limits of a schema's expanded size, in which each reference counts as its whole target: that is the cost of a validation,
 * and most of the cost of compiling. The characters are those of its JSON.
 */
const MAX_SCHEMA_COST = 1_000;
const MAX_EXPANDED_CHARACTERS = 65_536;

/** A list of names that depend on another name is compiled in quadratic time. */
const COST_OF_DEPENDENT_NAME = 4;

/** A `\p{…}` in a pattern stands for hundreds of ranges of characters. */
const CHARACTER_PROPERTY = /\\p\{/gi;
const COST_OF_CHARACTER_PROPERTY = 5;

/** Keywords that are not compiled. */
const ANNOTATIONS = new Set([
	'$comment',
	'default',
	'deprecated',
	'description',
	'example',
	'examples',
	'readOnly',
	'title',
	'writeOnly',
]);

/** Keywords that refer elsewhere, or change the target of a reference, which no supported schema needs. */
const UNSUPPORTED_KEYWORDS = [
	'$id',
	'id',
	'$anchor',
	'$dynamicAnchor',
	'$dynamicRef',
	'$recursiveAnchor',
	'$recursiveRef',
	'$async',
];

/** Keywords whose value is a schema (or an array of schemas), or an object of schemas. */
const SCHEMA_KEYWORDS = [
	...['additionalItems', 'additionalProperties', 'allOf', 'anyOf', 'contains', 'contentSchema', 'else', 'if', 'items'],
	...['not', 'oneOf', 'prefixItems', 'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
];
const SCHEMA_MAP_KEYWORDS = [
	'$defs',
	'definitions',
	'dependencies',
	'dependentSchemas',
	'patternProperties',
	'properties',
];

/** Keywords that list names that depend on another one. */
const NAME_MAP_KEYWORDS = ['dependencies', 'dependentRequired'];

interface SchemaCost {
	/** Schemas, their keywords, and the listed items that take time. */
	cost: number;
	/** Characters that references add to those of the schema itself. */
	expandedCharacters: number;
}

/**
 * Ensures that compiling a schema and validating against it end soon: references point within the schema, are not circular,
 * and do not multiply without bound.
 * @throws AppError `invalid_request`
 */
export function requireFiniteSchema(root: object): void {
	const characters = JSON.stringify(root).length;
	const costs = new Map<object, SchemaCost>();
	const visiting = new Set<object>();

	/** The size of one schema, with the targets of its references. */
	const costOf = (schema: object): SchemaCost => {
		const known = costs.get(schema);
		if (known !== undefined) return known;
		if (visiting.has(schema)) throw invalidSchema('has a $ref that leads back to where it stands');
		visiting.add(schema);
		const referenced = valuesOf(schema, '$ref').map((reference) => resolveReference(root, reference));
		const size = {
			cost: ownCost(schema),
			expandedCharacters: referenced.length === 0 ? 0 : JSON.stringify(referenced).length,
		};
		requireWithinLimits(size);
		for (const part of [...subschemasOf(schema), ...referenced]) {
			const { cost, expandedCharacters } =
				typeof part === 'boolean' ? { cost: 1, expandedCharacters: 0 } : costOf(part);
			size.cost += cost;
			size.expandedCharacters += expandedCharacters;
			requireWithinLimits(size);
		}
		visiting.delete(schema);
		costs.set(schema, size);
		return size;
	};

	const requireWithinLimits = ({ cost, expandedCharacters }: SchemaCost): void => {
		if (cost > MAX_SCHEMA_COST) throw schemaTooLarge(`${MAX_SCHEMA_COST} parts (schemas and keywords in them)`);
		if (characters + expandedCharacters > MAX_EXPANDED_CHARACTERS)
			throw schemaTooLarge(`${MAX_EXPANDED_CHARACTERS} characters`);
	};

	costOf(root);
}

/** The parts of a schema without its subschemas. */
function ownCost(schema: object): number {
	for (const keyword of UNSUPPORTED_KEYWORDS) {
		if (Object.hasOwn(schema, keyword)) throw invalidSchema(`must not use ${keyword}`);
	}
	const keywords = Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword));
	const patterns = [
		...valuesOf(schema, 'pattern'),
		...valuesOf(schema, 'patternProperties').filter(isSchema).flatMap(Object.keys),
	];
	const properties = patterns.flatMap((pattern) => String(pattern).match(CHARACTER_PROPERTY) ?? []);
	const names = NAME_MAP_KEYWORDS.flatMap((keyword) => valuesOf(schema, keyword))
		.filter(isSchema)
		.flatMap((lists) => Object.entries(lists))
		.flatMap(([name, list]) => (Array.isArray(list) ? [name, ...list] : []));
	return 1 + keywords.length + names.length * COST_OF_DEPENDENT_NAME + properties.length * COST_OF_CHARACTER_PROPERTY;
}

/** The subschemas of a schema. */
function subschemasOf(schema: object): Array<object | boolean> {
	return [
		...SCHEMA_KEYWORDS.flatMap((keyword) => valuesOf(schema, keyword)).flat(),
		...SCHEMA_MAP_KEYWORDS.flatMap((keyword) => valuesOf(schema, keyword))
			.filter(isSchema)
			.flatMap((map) => Object.values(map) as unknown[]),
	].filter((part) => typeof part === 'boolean' || isSchema(part));
}

/** The target of a reference. */
function resolveReference(root: object, reference: unknown): object | boolean {
	const refuse = () => invalidSchema('may use $ref only for a place in itself that is there: "#/$defs/…"');
	if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) throw refuse();
	let node: unknown = root;
	for (const escaped of reference.split('/').slice(1)) {
		const name = unescapePointerToken(escaped);
		if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) throw refuse();
		node = (node as Record<string, unknown>)[name];
	}
	if (typeof node !== 'boolean' && !isSchema(node)) throw refuse();
	return node;
}

/** A name of a JSON Pointer in a URI fragment (RFC 6901, 6). */
function unescapePointerToken(name: string): string {
	try {
		return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
	} catch {
		throw invalidSchema('has a $ref that is not a valid JSON Pointer');
	}
}

function valuesOf(schema: object, keyword: string): unknown[] {
	return Object.hasOwn(schema, keyword) ? [(schema as Record<string, unknown>)[keyword]] : [];
}

function isSchema(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function schemaTooLarge(bound: string) {
	return invalidSchema(`comes to more than ${bound}, references counted each time`);
}

function invalidSchema(message: string) {
	return invalidRequestAt(['config', 'parameters'], message);
}
