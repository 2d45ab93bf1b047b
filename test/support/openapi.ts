import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A JSON Schema; a `$ref` in it leads into the document that it is part of. */
export interface JsonSchema {
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
	uniqueItems?: boolean;
	minProperties?: number;
	maxProperties?: number;
	items?: JsonSchema;
	properties?: Record<string, JsonSchema>;
	patternProperties?: Record<string, JsonSchema>;
	additionalProperties?: boolean | JsonSchema;
	required?: string[];
	anyOf?: JsonSchema[];
	oneOf?: JsonSchema[];
	allOf?: JsonSchema[];
	discriminator?: { propertyName: string; mapping: Record<string, string> };
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
	schema: JsonSchema;
}

export interface Media {
	schema: JsonSchema;
	example?: unknown;
	examples?: Record<string, { summary?: string; value: unknown } | Reference>;
}

export interface Header {
	required?: boolean;
	description: string;
	schema: JsonSchema;
}

export interface Response {
	description: string;
	headers: Record<string, Header>;
	content: Record<string, Media>;
}

/** An operation of the document, references outside of schemas followed. */
export interface DescribedOperation {
	id: string;
	/** Upper-case. */
	method: string;
	path: string;
	summary: string;
	tags: string[];
	/** Alternative sets of schemes. An empty set, or no set, means that no credential is needed. */
	security: string[][];
	parameters: Parameter[];
	/** By content type. */
	body: Record<string, Media>;
	bodyDescription: string | undefined;
	/** By status. */
	responses: Map<number, Response>;
}

export interface OpenApiDocument {
	openapi: string;
	info: { title: string; version: string; description: string };
	tags: Array<{ name: string; description: string }>;
	/** What the server sends, by the type of the event. */
	webhooks: Record<string, unknown>;
	// biome-ignore lint/suspicious/noExplicitAny: read here, and handed out with types
	paths: Record<string, Record<string, any>>;
	components: Record<string, Record<string, object>>;
}

/** Holds values against schemas of an API's description. */
export type SchemaCheck = (value: unknown) => string | null;

/** An OpenAPI document, read as its clients would: nothing here knows the code that it was made from. */
export class ApiDescription {
	readonly document: OpenApiDocument;
	readonly operations: readonly DescribedOperation[];
	readonly #ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
	readonly #checks = new Map<object, SchemaCheck>();

	constructor(document: OpenApiDocument) {
		this.document = document;
		addFormats.default(this.#ajv, ['date-time', 'uri']);
		this.#ajv.addFormat('binary', true);
		this.#ajv.addFormat('time-zone', true);
		this.#ajv.addKeyword('discriminator');
		this.#ajv.addSchema(withLocalReferences({ $id: 'api', $defs: document.components.schemas }));
		this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
			Object.entries(methods).map(([method, operation]) => this.#read(path, method.toUpperCase(), operation)),
		);
	}

	/** What a reference leads to; anything else is itself. */
	resolve<T extends object>(value: T | Reference): T {
		if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
		const steps = value.$ref.slice(2).split('/');
		// biome-ignore lint/suspicious/noExplicitAny: a walk through the document
		const target = steps.reduce((at: any, step) => at?.[step], this.document);
		if (target === undefined) throw new Error(`${value.$ref} leads nowhere.`);
		return this.resolve<T>(target);
	}

	/** Checks values against a schema of the document; answers what is wrong, or null. */
	check(schema: JsonSchema): SchemaCheck {
		let check = this.#checks.get(schema);
		if (!check) {
			const validate = this.#ajv.compile(withLocalReferences(schema));
			check = (value) => (validate(value) ? null : (validate.errors ?? []).map(errorText).join('; '));
			this.#checks.set(schema, check);
		}
		return check;
	}

	/** The examples of a body or an answer, by name. */
	examples(media: Media): Array<[name: string, value: unknown]> {
		const named = Object.entries(media.examples ?? {}).map(
			([name, example]) => [name, this.resolve<{ value: unknown }>(example).value] as [string, unknown],
		);
		return 'example' in media ? [['example', media.example], ...named] : named;
	}

	// biome-ignore lint/suspicious/noExplicitAny: the document as it came
	#read(path: string, method: string, operation: any): DescribedOperation {
		const responses = Object.entries<Response | Reference>(operation.responses).map(([status, given]) => {
			const { description, headers = {}, content = {} } = this.resolve<Response>(given);
			return [Number(status), { description, headers: this.#resolved(headers), content }] as const;
		});
		return {
			id: operation.operationId,
			method,
			path,
			summary: operation.summary,
			tags: operation.tags,
			security: operation.security.map((schemes: object) => Object.keys(schemes)),
			parameters: operation.parameters.map((given: Parameter | Reference) => this.resolve<Parameter>(given)),
			body: operation.requestBody?.content ?? {},
			bodyDescription: operation.requestBody?.description,
			responses: new Map(responses),
		};
	}

	#resolved<T extends object>(members: Record<string, T | Reference>): Record<string, T> {
		return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, this.resolve<T>(member)]));
	}
}

/** A schema with its references as the validator finds them: what has a name is kept there under `api`. */
function withLocalReferences(schema: object): object {
	const found = (value: string) => value.replace('#/components/schemas/', 'api#/$defs/');
	return JSON.parse(JSON.stringify(schema), (key, value) => (key === '$ref' ? found(value) : value));
}

function errorText({ instancePath, message, params }: ErrorObject): string {
	return `${instancePath === '' ? 'it' : instancePath} ${message} ${JSON.stringify(params)}`;
}
