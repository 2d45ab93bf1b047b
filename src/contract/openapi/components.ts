import type { TSchema } from 'typebox';
import { pascalCase, schemaNames } from './names.ts';

/** A JSON Schema as in the document. */
export type JsonSchema = Record<string, unknown>;

/** Members of a schema whose values are not schemas. */
const VALUE_KEYWORDS = new Set(['const', 'default', 'discriminator', 'enum', 'examples', 'required', 'type']);
/** Members that map names, which are not keywords, to schemas. */
const MAP_KEYWORDS = new Set(['properties', 'patternProperties']);

/** One of several objects, distinguished by a constant member. */
interface Variants {
	discriminator: { propertyName: string };
	oneOf: ReadonlyArray<{ properties: Record<string, { const: string }> }>;
}

/**
 * The document's Components Object: parts that are described once and referenced elsewhere. It has only referenced parts. A
 * schema's name is found by its identity, so the contract's files do not declare it.
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
	 * A schema, or the reference to it if it has a name.
	 * @param fallbackName for variants of a schema without a name, which must have one
	 */
	schema(schema: TSchema | JsonSchema, fallbackName = ''): JsonSchema {
		const name = schemaNames.of(schema);
		return name === undefined ? this.#copy(schema, fallbackName) : this.named(name, () => this.#copy(schema, name));
	}

	/** A schema under a name, as the reference to it. */
	named(name: string, make: () => JsonSchema): JsonSchema {
		if (!this.#schemas.has(name)) {
			// The name is reserved before the schema is made, because its members may refer to it.
			this.#schemas.set(name, {});
			this.#schemas.set(name, make());
		}
		return { $ref: `#/components/schemas/${name}` };
	}

	/** Another component under a name, as the reference to it. */
	shared(kind: 'responses' | 'headers' | 'parameters' | 'examples', name: string, make: () => object): object {
		const known = this.#otherComponents[kind];
		if (!known.has(name)) known.set(name, make());
		return { $ref: `#/components/${kind}/${name}` };
	}

	/** The Components Object, sorted by name. */
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

	/** A discriminator refers to schemas by name, so each variant gets one. */
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

/** Keywords that apply to strings only. */
const STRING_KEYWORDS = new Set(['format', 'maxLength', 'minLength', 'pattern']);

/** A schema of several types as a choice of schemas with one type each: some code generators read the last type only. */
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
