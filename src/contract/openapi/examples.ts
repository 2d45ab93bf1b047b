import { ID_PREFIXES, type IdKind } from '../../base/index.ts';
import { kindOf, schemaNames } from './names.ts';

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
interface Place {
	/** The name of the member that holds it. */
	name: string;
	/** What an `id` names here. */
	kind: IdKind | undefined;
	/** JSON Pointer. */
	path: string;
	/** Is told of each text that nobody chose. */
	onUnchosen: (path: string) => void;
}

const ID = '06gzhmza00001mjww6bbdevcx5ss2c8f';
/** Stands where a text is needed and nobody chose one. */
const UNCHOSEN = '…';
const MOMENT = '2026-11-20T12:00:00.000Z';

/** An id for examples. */
export function sampleId(kind: IdKind): string {
	return ID_PREFIXES[kind] + ID;
}

/**
 * An example of a schema: its own where it has one, else one made of its members'. Ids and times need none: the member's
 * name tells what an id names.
 * @param kind what an `id` names at the top
 * @param onUnchosen is told of each text for which no schema has an example, by its JSON Pointer
 */
export function exampleOf(schema: object, kind?: IdKind, onUnchosen: (path: string) => void = () => {}): unknown {
	return make(schema as Schema, { name: '', kind, path: '', onUnchosen });
}

function make(schema: Schema, place: Place): unknown {
	if (schema.examples) return schema.examples[0];
	if ('const' in schema) return schema.const;
	if (schema.enum) return schema.enum[0];
	if (schema.default !== undefined) return schema.default;
	const variants = schema.anyOf ?? schema.oneOf;
	if (variants) return make(variants[0] as Schema, place);
	const types = [schema.type ?? []].flat();
	switch (types[0]) {
		case 'object':
			return makeObject(schema, place);
		case 'array':
			return [make(schema.items ?? {}, { ...place, path: `${place.path}/0` })];
		case 'string':
			return makeText(schema, types.includes('null'), place);
		case 'integer':
		case 'number':
			return Math.max(schema.minimum ?? 0, 1);
		case 'boolean':
			return true;
		default:
			return types[0] === 'null' ? null : {};
	}
}

function makeObject(schema: Schema, place: Place): object {
	const kind = lastKindIn(schemaNames.of(schema)) ?? place.kind;
	const members = Object.entries(schema.properties ?? {});
	return Object.fromEntries(
		members.map(([name, member]) => [name, make(member, { ...place, name, kind, path: `${place.path}/${name}` })]),
	);
}

function makeText({ format }: Schema, nullable: boolean, { name, kind, path, onUnchosen }: Place): unknown {
	const named = name === 'id' ? kind : kindOf(/^(.+)_ids?$/.exec(name)?.[1] ?? '');
	if (named) return sampleId(named);
	if (format === 'date-time') return nullable ? null : MOMENT;
	if (nullable) return null;
	if (format === 'binary') return 'The bytes of the file.';
	onUnchosen(path);
	return UNCHOSEN;
}

/** What the resource of a schema's name is: of a `WidgetMessage` and of a `MessageReply` a message. */
function lastKindIn(name: string | undefined): IdKind | undefined {
	const words = name?.match(/[A-Z][a-z]+/g) ?? [];
	for (let at = words.length; at > 0; at--) {
		const kind = kindOf(words.slice(Math.max(0, at - 2), at).join('')) ?? kindOf(words[at - 1] as string);
		if (kind) return kind;
	}
	return undefined;
}
