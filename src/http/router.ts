import { AppError } from '../base/index.ts';
import type { Route } from './types.ts';

/** The routes of one path, and the values of its placeholders in a request. */
export interface RouteMatch {
	routes: PathRoutes;
	params: Readonly<Record<string, string>>;
}

/** One path of the routing table, with a route for each of its methods. */
export class PathRoutes {
	readonly #routes = new Map<string, Route>();
	/** As in the routing table. */
	readonly path: string;
	/** The value of the `Allow` header. */
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
	routeFor(method: string): Route | undefined {
		return this.#routes.get(method);
	}
}

/** A node of the trie of path segments. */
interface TrieNode {
	staticChildren: Map<string, TrieNode>;
	/** A `{placeholder}`: any one segment. */
	paramChild?: TrieNode;
	/** A `{rest+}`: all remaining segments. */
	wildcardRoutes?: PathRoutes;
	routes?: PathRoutes;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const PLACEHOLDER = /^\{(\w+)(\+?)\}$/;

/**
 * Finds the routes of a path. Static segments win over placeholders, at each segment from the left. A path with a trailing
 * slash is another path; dot segments have no special meaning.
 */
export class Router {
	/** Paths without placeholders, found in one look-up. */
	readonly #staticMatches = new Map<string, RouteMatch>();
	readonly #root: TrieNode = { staticChildren: new Map() };
	/** The placeholders' names. Routes of one path that name them differently are a mistake. */
	readonly #paramNames = new Map<PathRoutes, string[]>();

	constructor(routes: readonly Route[]) {
		for (const route of routes) this.#add(route);
	}

	/**
	 * @param path as sent, without the query string
	 * @throws AppError `invalid_request` for invalid percent-encoding
	 */
	find(path: string): RouteMatch | null {
		const exact = this.#staticMatches.get(path);
		if (exact !== undefined) return exact;
		if (path.charCodeAt(0) !== 47) return null;
		const segments = path.slice(1).split('/');
		if (path.includes('%')) decodeAll(segments);
		const values: string[] = [];
		const routes = matchSegments(this.#root, segments, 0, values);
		if (routes === null) return null;
		const names = this.#paramNames.get(routes);
		if (names === undefined || names.length === 0) return { routes, params: NO_PARAMS };
		const params: Record<string, string> = {};
		for (let at = 0; at < names.length; at++) params[names[at] as string] = values[at] as string;
		return { routes, params };
	}

	#add(route: Route): void {
		if (!route.path.startsWith('/')) throw new Error(`A route's path starts with a slash: ${route.path}`);
		const segments = route.path.slice(1).split('/');
		const names: string[] = [];
		let node = this.#root;
		let isWildcard = false;
		for (const [at, segment] of segments.entries()) {
			const placeholder = PLACEHOLDER.exec(segment);
			if (placeholder === null) {
				if (/[{}]/.test(segment)) throw new Error(`A placeholder takes a whole segment: ${route.path}`);
				const next: TrieNode = node.staticChildren.get(segment) ?? { staticChildren: new Map() };
				node.staticChildren.set(segment, next);
				node = next;
				continue;
			}
			names.push(placeholder[1] as string);
			isWildcard = placeholder[2] === '+';
			if (isWildcard && at < segments.length - 1) throw new Error(`{name+} can only stand last: ${route.path}`);
			if (isWildcard) break;
			node.paramChild ??= { staticChildren: new Map() };
			node = node.paramChild;
		}
		const routes = (isWildcard ? node.wildcardRoutes : node.routes) ?? new PathRoutes(route.path);
		if (isWildcard) node.wildcardRoutes = routes;
		else node.routes = routes;
		routes.add(route);
		const known = this.#paramNames.get(routes);
		if (known !== undefined && known.join() !== names.join()) {
			throw new Error(`Routes of one path name their placeholders alike: ${route.path}`);
		}
		this.#paramNames.set(routes, names);
		if (names.length === 0) this.#staticMatches.set(route.path, { routes, params: NO_PARAMS });
	}
}

/** Depth first with static segments first, so the most literal route wins and none is missed. */
function matchSegments(node: TrieNode, segments: readonly string[], at: number, values: string[]): PathRoutes | null {
	if (at === segments.length) return node.routes ?? null;
	const segment = segments[at] as string;
	const next = node.staticChildren.get(segment);
	if (next !== undefined) {
		const routes = matchSegments(next, segments, at + 1, values);
		if (routes !== null) return routes;
	}
	if (segment === '') return null;
	if (node.paramChild !== undefined) {
		values.push(segment);
		const routes = matchSegments(node.paramChild, segments, at + 1, values);
		if (routes !== null) return routes;
		values.pop();
	}
	if (node.wildcardRoutes === undefined) return null;
	values.push(segments.slice(at).join('/'));
	return node.wildcardRoutes;
}

function decodeAll(segments: string[]): void {
	try {
		for (let at = 0; at < segments.length; at++) segments[at] = decodeURIComponent(segments[at] as string);
	} catch (cause) {
		throw new AppError('invalid_request', 'The path is not valid percent-encoded UTF-8.', { cause });
	}
}
