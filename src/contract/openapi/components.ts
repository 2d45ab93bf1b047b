import type { TSchema } from 'typebox';
import { pascalCase, schemaNames } from './names.ts';

/** A JSON Schema as the document shows it. */
export type JsonSchema = Record<string, unknown>;

/** Members of a schema that hold values rather than schemas. */
const VALUE_KEYWORDS = new Set(['const', 'default', 'discriminator', 'enum', 'examples', 'required', 'type']);
/** Members that hold schemas by names, which are no keywords. */
const MAP_KEYWORDS = new Set(['properties', 'patternProperties']);

/** One of several objects, told apart by a constant under one name. */
interface Variants {
	discriminator: { propertyName: string };
	oneOf: ReadonlyArray<{ properties: Record<string, { const: string }> }>;
}

/**
 * What is described once and referred to from everywhere else. Only what something refers to is in it; a schema's name is
 * found by its identity, so the contract's files need not know of it.
 */
export class Components {
	readonly #schemas = new Map<string, JsonSchema>();
	readonly #otherComponents = {
		responses: new Map<string, object>(),
		headers: new Map<string, object>(),
		parameters: new Map<string, object>(),
		examples: new Map<string, object>(),
	};

	/**
	 * A schema: where it has a name, the reference to it.
	 * @param fallbackName names the place of a schema without a name, for what must have one
	 */
	schema(schema: TSchema | JsonSchema, fallbackName = ''): JsonSchema {
		const name = schemaNames.of(schema);
		return name === undefined ? this.#copy(schema, fallbackName) : this.named(name, () => this.#copy(schema, name));
	}

	/** A schema under a name, as the reference to it. */
	named(name: string, make: () => JsonSchema): JsonSchema {
		if (!this.#schemas.has(name)) {
			// Its place is taken before it is made: its members may refer to it.
			this.#schemas.set(name, {});
			this.#schemas.set(name, make());
		}
		return { $ref: `#/components/schemas/${name}` };
	}

	/** Anything else under a name, as the reference to it. */
	shared(kind: 'responses' | 'headers' | 'parameters' | 'examples', name: string, make: () => object): object {
		const known = this.#otherComponents[kind];
		if (!known.has(name)) known.set(name, make());
		return { $ref: `#/components/${kind}/${name}` };
	}

	/** The Components Object, names in order. */
	all(): Record<string, object> {
		const kinds = Object.entries({ schemas: this.#schemas, ...this.#otherComponents });
		return Object.fromEntries(kinds.map(([kind, known]) => [kind, sortedByName(known)]));
	}

	#copy(schema: object, fallbackName: string): JsonSchema {
		if ('discriminator' in schema) return this.#variants(schema as Variants, fallbackName);
		const types = (schema as { type?: unknown }).type;
		if (Array.isArray(types) && types.filter((type) => type !== 'null').length > 1) return oneTypeEach(schema, types);
		return Object.fromEntries(
			Object.entries(schema).map(([key, member]) => [
				key,
				VALUE_KEYWORDS.has(key) ? member : this.#member(key, member, fallbackName),
			]),
		);
	}

	#member(key: string, member: unknown, fallbackName: string): unknown {
		if (Array.isArray(member)) return member.map((item) => this.#member('', item, fallbackName));
		if (typeof member !== 'object' || member === null) return member;
		if (!MAP_KEYWORDS.has(key)) return this.schema(member as JsonSchema, fallbackName);
		const schemas = Object.entries(member as Record<string, JsonSchema>);
		return Object.fromEntries(
			schemas.map(([name, childSchema]) => [name, this.schema(childSchema, fallbackName + pascalCase(name))]),
		);
	}

	/** A discriminator chooses among schemas with names, so each variant gets one. */
	#variants({ discriminator: { propertyName }, oneOf, ...rest }: Variants, fallbackName: string): JsonSchema {
		const references = oneOf.map((variant) => {
			const value = (variant.properties[propertyName] as { const: string }).const;
			const name = schemaNames.of(variant) ?? fallbackName + pascalCase(value);
			return [value, this.named(name, () => this.#copy(variant, name))] as const;
		});
		const mapping = Object.fromEntries(references.map(([value, { $ref }]) => [value, $ref]));
		return {
			...this.#copy(rest, fallbackName),
			oneOf: references.map(([, reference]) => reference),
			discriminator: { propertyName, mapping },
		};
	}
}

/** Keywords that say something about texts alone. */
const STRING_KEYWORDS = new Set(['format', 'maxLength', 'minLength', 'pattern']);

/** A schema of several types as a choice of schemas of one type each: some generators read the last type only. */
function oneTypeEach(schema: object, types: readonly string[]): JsonSchema {
	const { type: _types, ...keywords } = schema as JsonSchema;
	const entries = Object.entries(keywords);
	const stringKeywords = Object.fromEntries(entries.filter(([keyword]) => STRING_KEYWORDS.has(keyword)));
	const sharedKeywords = Object.fromEntries(entries.filter(([keyword]) => !STRING_KEYWORDS.has(keyword)));
	return { ...sharedKeywords, anyOf: types.map((type) => ({ type, ...(type === 'string' ? stringKeywords : {}) })) };
}

function sortedByName(known: Map<string, object>): Record<string, object> {
	return Object.fromEntries([...known].sort(([a], [b]) => (a < b ? -1 : 1)));
}
