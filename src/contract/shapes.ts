import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';

/** The value that a stored secret reads back as. Sent back, it leaves the secret unchanged. */
export const HIDDEN_SECRET = '***';

/** An object that rejects unknown members, for requests. */
export function Strict<P extends TProperties>(
	properties: P,
	options: { description?: string; minProperties?: number; examples?: unknown[] } = {},
) {
	return Type.Object(properties, { additionalProperties: false, ...options });
}

/** An object with any members. `additionalProperties` is explicit, because code generators read its absence as "none". */
export function AnyObject(options: { description?: string; examples?: unknown[] } = {}) {
	return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });
}

/** The body of operations without parameters. */
export const EmptyObject = Strict({});

/** The members of an object, each optional: the shape of a JSON merge patch (RFC 7396). */
export function Patch<P extends TProperties>(properties: P, options: { description?: string } = {}) {
	return Type.Partial(Type.Object(properties), { additionalProperties: false, ...options });
}

interface TextOptions {
	minLength?: number;
	maxLength?: number;
	pattern?: string;
	format?: string;
	default?: string | null;
	description?: string;
	examples?: string[];
}

/** A string or null. One `type` array instead of `anyOf`, so that a wrong value gives one error, not three. */
export function NullableText(options: TextOptions = {}) {
	return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

/** An integer or null. */
export function NullableInteger(options: { minimum?: number; maximum?: number; description?: string } = {}) {
	return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

/** One of the listed strings. */
export function OneOf<const V extends readonly string[]>(
	values: V,
	options: { default?: V[number]; description?: string; examples?: V[number][] } = {},
) {
	return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });
}

/** One of the listed strings, or null. */
export function NullableOneOf<const V extends readonly string[]>(
	values: V,
	options: { description?: string; examples?: V[number][] } = {},
) {
	return Type.Unsafe<V[number] | null>({ type: ['string', 'null'], enum: [...values, null], ...options });
}

/** An object that may be null, in a request. One `type` array instead of `anyOf`, as in `NullableText`. */
export function ObjectOrNull<T extends TObject>(schema: T) {
	return Type.Unsafe<Static<T> | null>({ ...schema, type: ['object', 'null'] });
}

/** An object that may be null. */
export function NullableObject<T extends TObject>(
	schema: T,
	options: { description?: string; examples?: unknown[] } = {},
) {
	return Type.Union([schema, Type.Null()], options);
}

/**
 * One of several objects, distinguished by a constant member, so that errors are about the intended variant.
 * (`discriminator` is a keyword of OpenAPI that ajv supports.)
 */
export function Variants<V extends TObject>(
	tag: string,
	variants: readonly V[],
	options: { description?: string; examples?: unknown[] } = {},
) {
	const values = variants.map(({ properties }) => (properties[tag] as unknown as { const: string }).const);
	return Type.Unsafe<Static<V>>({
		type: 'object',
		required: [tag],
		properties: { [tag]: { type: 'string', enum: values } },
		discriminator: { propertyName: tag },
		oneOf: [...variants],
		...options,
	});
}

/** An identifier in a request: any string, because a malformed id is the same 404 as an unknown one. */
export function Id(description: string) {
	return Type.String({ description });
}

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-11-20T12:00:00.000Z'] });
export const NullableTimestamp = NullableText({ format: 'date-time' });

/** The query of every list. */
export const PageQuery = Strict({
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items per page.' })),
	cursor: Type.Optional(Type.String({ maxLength: 1000, description: '`next_cursor` of the previous page.' })),
	order: Type.Optional(OneOf(['asc', 'desc'], { description: 'By creation time.' })),
});

/** The query of a list with filters. */
export function PageQueryWith<P extends TProperties>(filters: P) {
	return Strict({ ...PageQuery.properties, ...filters });
}

/** One page of a list. */
export function PageOf<T extends TSchema>(item: T) {
	return Type.Object({
		data: Type.Array(item),
		next_cursor: NullableText({ description: 'Send it as `cursor` to get the next page; null on the last page.' }),
	});
}

/** The type of a page of a list. */
export interface Page<T> {
	data: T[];
	next_cursor: string | null;
}

/** The result of a DELETE that removes a resource. */
export const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

/** The envelope of every error. */
export const ErrorEnvelope = Type.Object({
	error: Type.Object({
		code: Type.String({ description: 'Machine-readable.' }),
		message: Type.String({ description: 'For people.' }),
		retry_after: Type.Optional(Type.Integer({ description: 'Seconds; on rate limit errors.' })),
		details: Type.Optional(
			Type.Array(Type.Object({ path: Type.String({ description: 'JSON Pointer.' }), message: Type.String() })),
		),
		request_id: Type.String({ description: 'Repeats the X-Request-Id header.' }),
	}),
});

export type { Static };
