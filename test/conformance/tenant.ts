import assert from 'node:assert/strict';
import type { TestIssuer } from '../access/identity-provider.ts';
import type { ApiDescription, DescribedOperation, Media } from '../support/openapi.ts';
import { type ApiResponse, type Parts, send } from './requests.ts';
import {
	BODIES,
	CREDENTIALS,
	headersOfBody,
	ID_FIELDS,
	QUERY_VALUES,
	RESOURCE_MAKERS,
	UNIQUE_VALUES,
} from './resources.ts';
import type { ConformanceServer } from './server.ts';

/** An id in a request: a parameter of the path or the query, or a member of the body. */
export interface Slot {
	in: 'path' | 'query' | 'body';
	name: string;
	/** The path up to the parameter, which gives the kind of the resource. */
	thing: string;
}

let addresses = 0;

/**
 * A workspace with its credentials. It creates the resources that an operation needs and calls the operation as described:
 * with the required credential and ids of existing resources.
 */
export class Tenant {
	readonly server: ConformanceServer;
	readonly key: string;
	/** Resources for requests to refer to, created once. */
	readonly #standing = new Map<string, Promise<string>>();

	constructor(server: ConformanceServer, key: string = server.app.key) {
		this.server = server;
		this.key = key;
	}

	get api(): ApiDescription {
		return this.server.api;
	}

	get url(): string {
		return this.server.app.url;
	}

	get issuer(): TestIssuer {
		return this.server.issuer;
	}

	operation(id: string): DescribedOperation {
		return this.api.operations.find((operation) => operation.id === id) ?? assert.fail(`There is no ${id}.`);
	}

	/** Calls an operation with the given input, and with a credential if it requires one. */
	async call(operation: DescribedOperation, parts: Parts): Promise<ApiResponse> {
		const headers = { ...(await this.headersFor(operation)), ...parts.headers };
		return send(this.url, operation, { ...parts, headers });
	}

	/** Calls an operation that must succeed. */
	async done(id: string, parts: Parts): Promise<ApiResponse['body']> {
		const response = await this.call(this.operation(id), parts);
		assert.ok(response.status < 300, `${id} answered ${response.status} ${JSON.stringify(response.body)}`);
		return response.body;
	}

	/** Creates a resource, by the path that ends with its id. Its parents are given or created. */
	async make(thing: string, parents: Record<string, string> = {}): Promise<string> {
		const own = RESOURCE_MAKERS[thing];
		const path = { ...(await this.pathTo(collectionOf(thing))), ...parents };
		if (own) return own(this, path);
		const create = this.api.operations.find(
			({ method, path, responses }) => method === 'POST' && path === collectionOf(thing) && responses.has(201),
		);
		assert.ok(create, `Nothing makes what ${thing} names: say in test/conformance/resources.ts how it is made.`);
		const { id } = await this.done(create.id, { path, body: await this.body(create) });
		return id;
	}

	/** Creates a resource for every id in a path. */
	async pathTo(path: string): Promise<Record<string, string>> {
		const ids: Record<string, string> = {};
		for (const { name, thing } of pathSlots(path)) ids[name] = await this.make(thing, { ...ids });
		return ids;
	}

	/** The existing resource of a kind that requests refer to. */
	standing(thing: string): Promise<string> {
		let made = this.#standing.get(thing);
		if (!made) {
			made = this.make(thing);
			this.#standing.set(thing, made);
		}
		return made;
	}

	/** A valid body of an operation: one of its examples, with ids of existing resources. Undefined for an operation without a body. */
	async body(operation: DescribedOperation): Promise<unknown> {
		const own = BODIES[operation.id];
		if (own) return own(this);
		const media = operation.body['application/json'];
		const [example] = media ? this.api.examples(media) : [];
		return example && this.about(operation, example[1]);
	}

	/** A body with ids of existing resources, and with unique values where required. */
	async about(operation: DescribedOperation, body: unknown): Promise<unknown> {
		if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
		const slots = this.slots(operation).filter((slot) => slot.in === 'body' && slot.name in body);
		const ids = await Promise.all(slots.map(async ({ name, thing }) => [name, await this.standing(thing)] as const));
		const fresh = Object.entries(UNIQUE_VALUES).filter(([name]) => name in body);
		return { ...body, ...Object.fromEntries(ids), ...Object.fromEntries(fresh.map(([name, make]) => [name, make()])) };
	}

	/** The required parameters of an operation's query. */
	async query(operation: DescribedOperation): Promise<Record<string, string>> {
		const query: Record<string, string> = {};
		for (const parameter of operation.parameters) {
			if (parameter.in !== 'query' || !parameter.required) continue;
			const value = QUERY_VALUES[parameter.name];
			if (value !== undefined) {
				query[parameter.name] = value;
				continue;
			}
			const slot = this.slots(operation).find(({ name }) => name === parameter.name);
			assert.ok(slot, `${operation.id}: say in test/conformance/resources.ts what ${parameter.name} is`);
			query[parameter.name] = await this.standing(slot.thing);
		}
		return query;
	}

	/** Every id that a request of an operation may contain. */
	slots(operation: DescribedOperation): Slot[] {
		const schema = (media: Media | undefined) =>
			media ? this.api.resolve<{ properties?: object }>(media.schema).properties : undefined;
		const members = Object.keys(schema(operation.body['application/json']) ?? {});
		const inQuery = operation.parameters.flatMap((parameter) => (parameter.in === 'query' ? [parameter.name] : []));
		return [
			...pathSlots(operation.path),
			...inQuery.flatMap((name) => this.#fieldSlot(operation, 'query', name)),
			...members.flatMap((name) => this.#fieldSlot(operation, 'body', name)),
		];
	}

	/** A field that ends in `_id` names a resource of that kind. */
	#fieldSlot({ path }: DescribedOperation, place: 'query' | 'body', name: string): Slot[] {
		if (!name.endsWith('_id')) return [];
		const widget = path.startsWith('/api/v1/widget/') ? '/widget' : '';
		const own = ID_FIELDS[name];
		if (own === null) return [];
		const candidates = [own, `/api/v1${widget}/${plural(name)}/{id}`, `/api/v1/${plural(name)}/{id}`];
		const paths = this.api.operations.map((operation) => operation.path);
		const thing = candidates.find(
			(each) => each && (each in RESOURCE_MAKERS || paths.some((known) => known.startsWith(each))),
		);
		assert.ok(thing, `What does ${name} of ${path} name? Say so in FIELDS of test/conformance/resources.ts.`);
		return [{ in: place, name, thing }];
	}

	/** The headers with the credential of an operation. */
	async headersFor({ id, security, parameters }: DescribedOperation): Promise<Record<string, string>> {
		const origin = parameters.some(({ name }) => name === 'Origin');
		if (security.length === 0 || security.some((schemes) => schemes.length === 0)) {
			// Requests without a credential are rate-limited by address, so each comes from another address.
			const n = addresses++;
			const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
			const headers = { 'x-forwarded-for': address, origin: origin ? 'https://shop.example' : this.url };
			return { ...headers, ...headersOfBody(this, id) };
		}
		const own = headersOfBody(this, id);
		if (own) return own;
		const scheme = security.map(([each]) => each as string).find((each) => each in CREDENTIALS);
		assert.ok(
			scheme,
			`${id} wants ${security}: say in CREDENTIALS of test/conformance/resources.ts how to come by it.`,
		);
		return (CREDENTIALS[scheme] as (tenant: Tenant) => Promise<Record<string, string>>)(this);
	}
}

/** The ids in a path, from the left. */
export function pathSlots(path: string): Slot[] {
	return [...path.matchAll(/\{(\w+)\}/g)].map(({ 0: braces, 1: name = '', index }) => ({
		in: 'path',
		name,
		thing: path.slice(0, index + braces.length),
	}));
}

/** The path of a resource's list. */
function collectionOf(thing: string): string {
	return thing.slice(0, thing.lastIndexOf('/'));
}

/** The collection of the resource that a field names: `knowledge-bases` for `knowledge_base_id`. */
function plural(field: string): string {
	return `${field.replace(/_id$/, '').replaceAll('_', '-')}s`;
}
