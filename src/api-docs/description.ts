/** The shown part of a JSON Schema. */
export interface Schema {
	$ref?: string;
	type?: string | string[];
	const?: unknown;
	enum?: unknown[];
	default?: unknown;
	examples?: unknown[];
	format?: string;
	pattern?: string;
	minLength?: number;
	maxLength?: number;
	minimum?: number;
	maximum?: number;
	minItems?: number;
	maxItems?: number;
	items?: Schema;
	properties?: Record<string, Schema>;
	additionalProperties?: boolean | Schema;
	required?: string[];
	anyOf?: Schema[];
	oneOf?: Schema[];
	allOf?: Schema[];
	discriminator?: { propertyName: string };
	description?: string;
}

interface Reference {
	$ref: string;
}

export interface Parameter {
	name: string;
	in: 'path' | 'query' | 'header';
	required: boolean;
	description?: string;
	schema: Schema;
}

export interface MediaType {
	schema: Schema;
	example?: unknown;
	examples?: Record<string, { summary?: string; value: unknown } | Reference>;
}

export interface ResponseObject {
	description: string;
	headers?: Record<string, { description?: string } | Reference>;
	content?: Record<string, MediaType>;
}

export interface Operation {
	operationId: string;
	summary: string;
	description?: string;
	tags: string[];
	security: Array<Record<string, unknown>>;
	parameters: Array<Parameter | Reference>;
	requestBody?: { description?: string; content: Record<string, MediaType> };
	responses: Record<string, ResponseObject | Reference>;
}

/** An operation with its method and path. */
export interface OperationAtPath extends Operation {
	method: string;
	path: string;
}

/** The shown part of the OpenAPI document. */
export interface OpenApi {
	info: { title: string; version: string; summary: string; description: string };
	tags: Array<{ name: string; description: string }>;
	paths: Record<string, Record<string, Operation>>;
	/** Requests that the server sends, by type of event. */
	webhooks: Record<string, { post: Operation }>;
	components: Record<string, Record<string, unknown>>;
}

/** The OpenAPI document with resolved references. */
export class Description {
	readonly document: OpenApi;

	constructor(document: OpenApi) {
		this.document = document;
	}

	/** The target of a reference; any other value unchanged. */
	resolve<T extends object>(value: T | Reference): T {
		if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
		const [kind = '', name = ''] = value.$ref.split('/').slice(2);
		return this.resolve(this.document.components[kind]?.[name] as T);
	}

	/** The operations of each tag, in the order of the document. */
	groups(): Array<{ name: string; description: string; operations: OperationAtPath[] }> {
		const all = Object.entries(this.document.paths).flatMap(([path, methods]) =>
			Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
		);
		return this.document.tags.map((tag) => ({ ...tag, operations: all.filter(({ tags }) => tags.includes(tag.name)) }));
	}

	/** The examples of a body or response, by name. */
	examples({ example, examples = {} }: MediaType): Array<[title: string, value: unknown]> {
		if (example !== undefined) return [['Example', example]];
		return Object.entries(examples).map(([name, given]) => {
			const { summary, value } = this.resolve<{ summary?: string; value: unknown }>(given);
			return [summary ?? name, value];
		});
	}
}

/** The name of a referenced schema; undefined for an inline schema. */
export function schemaNameOf({ $ref }: Schema): string | undefined {
	return $ref?.split('/').at(-1);
}
