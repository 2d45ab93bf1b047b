import { AppError } from '../base/index.ts';
import type { Route } from './types.ts';

/** The handlers of one path, and the values of its placeholders for the request at hand. */
export interface Found {
	place: Place;
	params: Readonly<Record<string, string>>;
}

/** One path of the table with a route for each of its methods. */
export class Place {
	readonly #routes = new Map<string, Route>();
	/** As in the table. */
	readonly path: string;
	/** The value of the header `Allow`. */
	allow = '';

	constructor(path: string) {
		this.path = path;
	}

	add(route: Route): void {
		if (this.#routes.has(route.method)) throw new Error(`Two routes for ${route.method} ${route.path}.`);
		this.#routes.set(route.method, route);
		if (route.method === 'GET') this.#routes.set('HEAD', route);
		this.allow = [...this.#routes.keys()].sort().join(', ');
	}

	/** The route for a method; HEAD is served wherever GET is. */
	take(method: string): Route | undefined {
		return this.#routes.get(method);
	}
}

/** One step of a path with what may follow. */
interface Node {
	statics: Map<string, Node>;
	/** A `{placeholder}` here: any one segment. */
	any?: Node;
	/** A `{rest+}` here: all that is left. */
	rest?: Place;
	place?: Place;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const PLACEHOLDER = /^\{(\w+)(\+?)\}$/;

/**
 * Finds the place of a path. Static segments win over placeholders, at each segment from the left; a trailing slash is
 * another path, and dot segments mean nothing.
 */
export class Router {
	/** Paths without placeholders are found in one look-up. */
	readonly #exact = new Map<string, Found>();
	readonly #root: Node = { statics: new Map() };
	/** The placeholders' names by place: routes of one shape may name them differently only by mistake. */
	readonly #names = new Map<Place, string[]>();

	constructor(routes: readonly Route[]) {
		for (const route of routes) this.#add(route);
	}

	/**
	 * @param path as sent, without the query string
	 * @throws AppError `invalid_request` where the percent-encoding is broken
	 */
	find(path: string): Found | null {
		const exact = this.#exact.get(path);
		if (exact !== undefined) return exact;
		if (path.charCodeAt(0) !== 47) return null;
		const segments = path.slice(1).split('/');
		if (path.includes('%')) decodeAll(segments);
		const values: string[] = [];
		const place = descend(this.#root, segments, 0, values);
		if (place === null) return null;
		const names = this.#names.get(place);
		if (names === undefined || names.length === 0) return { place, params: NO_PARAMS };
		const params: Record<string, string> = {};
		for (let at = 0; at < names.length; at++) params[names[at] as string] = values[at] as string;
		return { place, params };
	}

	#add(route: Route): void {
		if (!route.path.startsWith('/')) throw new Error(`A route's path starts with a slash: ${route.path}`);
		const segments = route.path.slice(1).split('/');
		const names: string[] = [];
		let node = this.#root;
		let rest = false;
		for (const [at, segment] of segments.entries()) {
			const placeholder = PLACEHOLDER.exec(segment);
			if (placeholder === null) {
				if (/[{}]/.test(segment)) throw new Error(`A placeholder takes a whole segment: ${route.path}`);
				const next: Node = node.statics.get(segment) ?? { statics: new Map() };
				node.statics.set(segment, next);
				node = next;
				continue;
			}
			names.push(placeholder[1] as string);
			rest = placeholder[2] === '+';
			if (rest && at < segments.length - 1) throw new Error(`{name+} can only stand last: ${route.path}`);
			if (rest) break;
			node.any ??= { statics: new Map() };
			node = node.any;
		}
		const place = (rest ? node.rest : node.place) ?? new Place(route.path);
		if (rest) node.rest = place;
		else node.place = place;
		place.add(route);
		const known = this.#names.get(place);
		if (known !== undefined && known.join() !== names.join()) {
			throw new Error(`Routes of one path name their placeholders alike: ${route.path}`);
		}
		this.#names.set(place, names);
		if (names.length === 0) this.#exact.set(route.path, { place, params: NO_PARAMS });
	}
}

/** Depth first with static segments first, so the most literal route wins and none is missed. */
function descend(node: Node, segments: readonly string[], at: number, values: string[]): Place | null {
	if (at === segments.length) return node.place ?? null;
	const segment = segments[at] as string;
	const next = node.statics.get(segment);
	if (next !== undefined) {
		const place = descend(next, segments, at + 1, values);
		if (place !== null) return place;
	}
	if (segment === '') return null;
	if (node.any !== undefined) {
		values.push(segment);
		const place = descend(node.any, segments, at + 1, values);
		if (place !== null) return place;
		values.pop();
	}
	if (node.rest === undefined) return null;
	values.push(segments.slice(at).join('/'));
	return node.rest;
}

function decodeAll(segments: string[]): void {
	try {
		for (let at = 0; at < segments.length; at++) segments[at] = decodeURIComponent(segments[at] as string);
	} catch (cause) {
		throw new AppError('invalid_request', 'The path is not valid percent-encoded UTF-8.', { cause });
	}
}
