import { refusedAt } from '../refusal.ts';

/**
 * What a schema may come to, each reference counted as all that it leads to: that is what checking against it costs, and
 * most of what compiling it does. The characters are those of its JSON.
 */
const MAX_PARTS = 1_000;
const MAX_CHARACTERS = 65_536;

/** A list of names that depend on another name is compiled in the square of its length. */
const PARTS_OF_A_DEPENDENT_NAME = 4;

/** A `\p{…}` in a pattern stands for hundreds of ranges of characters. */
const CHARACTER_PROPERTY = /\\p\{/gi;
const PARTS_OF_A_CHARACTER_PROPERTY = 5;

/** Keywords that nothing is compiled of. */
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

/** Where a schema lists names that depend on another one. */
const MAPS_OF_NAMES = ['dependencies', 'dependentRequired'];

interface Size {
	/** Schemas, the keywords in them, and what these list that takes its time. */
	parts: number;
	/** Characters that references add to those of the schema itself. */
	added: number;
}

/**
 * Sees to it that compiling a schema, and checking a value against it, ends, and soon: references lead to places in it,
 * never back to where they stand, and do not multiply without bound.
 * @throws AppError `invalid_request`
 */
export function requireFiniteSchema(root: object): void {
	const characters = JSON.stringify(root).length;
	const sizes = new Map<object, Size>();
	const open = new Set<object>();

	/** The size of one schema, with all that it leads to. */
	const sizeOf = (schema: object): Size => {
		const known = sizes.get(schema);
		if (known !== undefined) return known;
		if (open.has(schema)) throw refused('has a $ref that leads back to where it stands');
		open.add(schema);
		const led = own(schema, '$ref').map((reference) => target(root, reference));
		const size = { parts: ownParts(schema), added: led.length === 0 ? 0 : JSON.stringify(led).length };
		requireBounded(size);
		for (const part of [...partsOf(schema), ...led]) {
			const { parts, added } = typeof part === 'boolean' ? { parts: 1, added: 0 } : sizeOf(part);
			size.parts += parts;
			size.added += added;
			requireBounded(size);
		}
		open.delete(schema);
		sizes.set(schema, size);
		return size;
	};

	const requireBounded = ({ parts, added }: Size): void => {
		if (parts > MAX_PARTS) throw tooMuch(`${MAX_PARTS} parts (schemas and keywords in them)`);
		if (characters + added > MAX_CHARACTERS) throw tooMuch(`${MAX_CHARACTERS} characters`);
	};

	sizeOf(root);
}

/** The parts of a schema without the schemas that stand in it. */
function ownParts(schema: object): number {
	for (const keyword of FOREIGN) {
		if (Object.hasOwn(schema, keyword)) throw refused(`must not use ${keyword}`);
	}
	const keywords = Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword));
	const patterns = [
		...own(schema, 'pattern'),
		...own(schema, 'patternProperties').filter(isSchema).flatMap(Object.keys),
	];
	const properties = patterns.flatMap((pattern) => String(pattern).match(CHARACTER_PROPERTY) ?? []);
	const names = MAPS_OF_NAMES.flatMap((keyword) => own(schema, keyword))
		.filter(isSchema)
		.flatMap((lists) => Object.entries(lists))
		.flatMap(([name, list]) => (Array.isArray(list) ? [name, ...list] : []));
	return (
		1 + keywords.length + names.length * PARTS_OF_A_DEPENDENT_NAME + properties.length * PARTS_OF_A_CHARACTER_PROPERTY
	);
}

/** The schemas that stand in a schema. */
function partsOf(schema: object): Array<object | boolean> {
	return [
		...SCHEMAS.flatMap((keyword) => own(schema, keyword)).flat(),
		...MAPS_OF_SCHEMAS.flatMap((keyword) => own(schema, keyword))
			.filter(isSchema)
			.flatMap((map) => Object.values(map) as unknown[]),
	].filter((part) => typeof part === 'boolean' || isSchema(part));
}

/** What a reference leads to. */
function target(root: object, reference: unknown): object | boolean {
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

function own(schema: object, keyword: string): unknown[] {
	return Object.hasOwn(schema, keyword) ? [(schema as Record<string, unknown>)[keyword]] : [];
}

function isSchema(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tooMuch(bound: string) {
	return refused(`comes to more than ${bound}, references counted each time`);
}

function refused(message: string) {
	return refusedAt(['config', 'parameters'], message);
}
