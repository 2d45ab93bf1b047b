import { ID_PREFIXES, type IdKind } from '../../base/index.ts';
import { idKindOf, schemaNames } from './names.ts';

/** The keywords that examples are made of. */
interface Schema {
	type?: string | readonly string[];
	const?: unknown;
	enum?: readonly unknown[];
	default?: unknown;
	examples?: readonly unknown[];
	format?: string;
	minimum?: number;
	anyOf?: readonly Schema[];
	oneOf?: readonly Schema[];
	items?: Schema;
	properties?: Readonly<Record<string, Schema>>;
}

/** Where in an example a value stands. */
interface ExampleContext {
	/** The name of the member that holds it. */
	name: string;
	/** What an `id` names here. */
	kind: IdKind | undefined;
	/** JSON Pointer. */
	path: string;
	/** Is told of each text that nobody chose. */
	onPlaceholder: (path: string) => void;
}

const ID = '06gzhmza00001mjww6bbdevcx5ss2c8f';
/** Stands where a text is needed and nobody chose one. */
const PLACEHOLDER_TEXT = '…';
const EXAMPLE_TIMESTAMP = '2026-11-20T12:00:00.000Z';

/** An id for examples. */
export function exampleId(kind: IdKind): string {
	return ID_PREFIXES[kind] + ID;
}

/**
 * An example of a schema: its own where it has one, else one made of its members'. Ids and times need none: the member's
 * name tells what an id names.
 * @param kind what an `id` names at the top
 * @param onPlaceholder is told of each text for which no schema has an example, by its JSON Pointer
 */
export function exampleOf(schema: object, kind?: IdKind, onPlaceholder: (path: string) => void = () => {}): unknown {
	return exampleFor(schema as Schema, { name: '', kind, path: '', onPlaceholder });
}

function exampleFor(schema: Schema, context: ExampleContext): unknown {
	if (schema.examples) return schema.examples[0];
	if ('const' in schema) return schema.const;
	if (schema.enum) return schema.enum[0];
	if (schema.default !== undefined) return schema.default;
	const variants = schema.anyOf ?? schema.oneOf;
	if (variants) return exampleFor(variants[0] as Schema, context);
	const types = [schema.type ?? []].flat();
	switch (types[0]) {
		case 'object':
			return exampleObject(schema, context);
		case 'array':
			return [exampleFor(schema.items ?? {}, { ...context, path: `${context.path}/0` })];
		case 'string':
			return exampleString(schema, types.includes('null'), context);
		case 'integer':
		case 'number':
			return Math.max(schema.minimum ?? 0, 1);
		case 'boolean':
			return true;
		default:
			return types[0] === 'null' ? null : {};
	}
}

function exampleObject(schema: Schema, context: ExampleContext): object {
	const kind = lastKindIn(schemaNames.of(schema)) ?? context.kind;
	const members = Object.entries(schema.properties ?? {});
	return Object.fromEntries(
		members.map(([name, member]) => [
			name,
			exampleFor(member, { ...context, name, kind, path: `${context.path}/${name}` }),
		]),
	);
}

function exampleString(
	{ format }: Schema,
	nullable: boolean,
	{ name, kind, path, onPlaceholder }: ExampleContext,
): unknown {
	const named = name === 'id' ? kind : idKindOf(/^(.+)_ids?$/.exec(name)?.[1] ?? '');
	if (named) return exampleId(named);
	if (format === 'date-time') return nullable ? null : EXAMPLE_TIMESTAMP;
	if (nullable) return null;
	if (format === 'binary') return 'The bytes of the file.';
	onPlaceholder(path);
	return PLACEHOLDER_TEXT;
}

/** What the resource of a schema's name is: of a `WidgetMessage` and of a `MessageReply` a message. */
function lastKindIn(name: string | undefined): IdKind | undefined {
	const words = name?.match(/[A-Z][a-z]+/g) ?? [];
	for (let at = words.length; at > 0; at--) {
		const kind = idKindOf(words.slice(Math.max(0, at - 2), at).join('')) ?? idKindOf(words[at - 1] as string);
		if (kind) return kind;
	}
	return undefined;
}
