import { ID_PREFIXES, type IdKind } from '../../base/index.ts';
import { idKindOf, schemaNames } from './names.ts';

/** The keywords from which examples are made. */
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

/** The position of a value in an example. */
interface ExampleContext {
	/** The name of its member. */
	name: string;
	/** The kind of resource that a member `id` identifies. */
	kind: IdKind | undefined;
	/** JSON Pointer. */
	path: string;
	/** Called for each string without an example. */
	onPlaceholder: (path: string) => void;
}

const ID = '06gzhmza00001mjww6bbdevcx5ss2c8f';
/** The value of a string for which no schema has an example. */
const PLACEHOLDER_TEXT = '…';
const EXAMPLE_TIMESTAMP = '2026-11-20T12:00:00.000Z';

/** An id for examples. */
export function exampleId(kind: IdKind): string {
	return ID_PREFIXES[kind] + ID;
}

/**
 * An example of a schema: its own, or one made from its members' examples. Ids and times need none: the member's name gives
 * the kind of an id.
 * @param kind the kind of resource that a member `id` at the top identifies
 * @param onPlaceholder called with the JSON Pointer of each string for which no schema has an example
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

/** The kind of resource of a schema's name: `WidgetMessage` and `MessageReply` are messages. */
function lastKindIn(name: string | undefined): IdKind | undefined {
	const words = name?.match(/[A-Z][a-z]+/g) ?? [];
	for (let at = words.length; at > 0; at--) {
		const kind = idKindOf(words.slice(Math.max(0, at - 2), at).join('')) ?? idKindOf(words[at - 1] as string);
		if (kind) return kind;
	}
	return undefined;
}
