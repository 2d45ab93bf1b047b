import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import type { Route } from '../../src/http/index.ts';
import { Router } from '../../src/http/router.ts';

const route = (method: Route['method'], path: string): Route => ({ method, path, handle: () => ({ status: 200 }) });

/** The path of the route that serves a request, and its parameters. */
function find(router: Router, method: string, path: string): [string, Record<string, string>] | string {
	const found = router.find(path);
	if (found === null) return 'none';
	const taken = found.routes.routeFor(method);
	return taken === undefined ? found.routes.allow : [taken.path, { ...found.params }];
}

test('prefers static segments to placeholders, in any order of the table', () => {
	const paths = ['/a/{x}', '/a/b', '/a/{x}/c', '/a/b/{y}', '/{z}', '/'];
	for (const order of [paths, [...paths].reverse()]) {
		const router = new Router(order.map((path) => route('GET', path)));
		assert.deepEqual(find(router, 'GET', '/a/b'), ['/a/b', {}]);
		assert.deepEqual(find(router, 'GET', '/a/q'), ['/a/{x}', { x: 'q' }]);
		assert.deepEqual(find(router, 'GET', '/a/b/c'), ['/a/b/{y}', { y: 'c' }]);
		assert.deepEqual(find(router, 'GET', '/a/q/c'), ['/a/{x}/c', { x: 'q' }]);
		assert.deepEqual(find(router, 'GET', '/q'), ['/{z}', { z: 'q' }]);
		assert.deepEqual(find(router, 'GET', '/'), ['/', {}]);
	}
});

test('falls back to a placeholder if the static segment has no matching route', () => {
	const router = new Router([route('GET', '/a/b/c'), route('GET', '/a/{x}/d')]);
	assert.deepEqual(find(router, 'GET', '/a/b/d'), ['/a/{x}/d', { x: 'b' }]);
});

test('matches the rest of a path with {name+}, after all more precise routes', () => {
	const router = new Router([route('GET', '/ui/{file+}'), route('GET', '/ui/index'), route('GET', '/ui')]);
	assert.deepEqual(find(router, 'GET', '/ui/a/b.js'), ['/ui/{file+}', { file: 'a/b.js' }]);
	assert.deepEqual(find(router, 'GET', '/ui/index'), ['/ui/index', {}]);
	assert.deepEqual(find(router, 'GET', '/ui/index/x'), ['/ui/{file+}', { file: 'index/x' }]);
	assert.equal(find(router, 'GET', '/ui/'), 'none');
});

test('treats trailing slashes, empty segments, dot segments and letter case as different paths', () => {
	const router = new Router([route('GET', '/a'), route('GET', '/a/{x}')]);
	for (const path of ['/a/', '//a', '/a//', '/A', '/a/b/', '', 'a', '*']) {
		assert.equal(find(router, 'GET', path), 'none', path);
	}
	assert.deepEqual(find(router, 'GET', '/a/..'), ['/a/{x}', { x: '..' }]);
});

test('decodes parameters once, and keeps an encoded slash in its segment', () => {
	const router = new Router([route('GET', '/a/{x}/{y}'), route('GET', '/plain')]);
	assert.deepEqual(find(router, 'GET', '/a/b%2Fc/%2525'), ['/a/{x}/{y}', { x: 'b/c', y: '%25' }]);
	assert.deepEqual(find(router, 'GET', '/%61/%C3%A9/+'), ['/a/{x}/{y}', { x: 'é', y: '+' }]);
	assert.deepEqual(find(router, 'GET', '/pl%61in'), ['/plain', {}]);
	assert.throws(
		() => router.find('/a/%E9/x'),
		(error) => error instanceof AppError && error.code === 'invalid_request',
	);
});

test('allows parameters that are named like properties of objects', () => {
	const router = new Router([route('GET', '/{constructor}')]);
	assert.deepEqual(find(router, 'GET', '/x'), ['/{constructor}', { constructor: 'x' }]);
	assert.equal(new Router([]).find('/__proto__'), null);
});

test('lists the methods of a path; HEAD belongs to GET', () => {
	const router = new Router([route('POST', '/a'), route('GET', '/a'), route('DELETE', '/b')]);
	assert.equal(find(router, 'PUT', '/a'), 'GET, HEAD, POST');
	assert.equal(find(router, 'HEAD', '/b'), 'DELETE');
	assert.deepEqual(find(router, 'HEAD', '/a'), ['/a', {}]);
});

test('rejects a contradictory routing table at construction', () => {
	const make = (...paths: string[]) => new Router(paths.map((path) => route('GET', path)));
	assert.throws(() => make('/a', '/a'), /Two routes for GET \/a/);
	const renamed = [route('GET', '/a/{x}'), route('POST', '/a/{y}')];
	assert.throws(() => new Router(renamed), /name their placeholders alike/);
	assert.throws(() => make('a'), /starts with a slash/);
	assert.throws(() => make('/a/{x+}/b'), /only stand last/);
	assert.throws(() => make('/a/x{y}'), /whole segment/);
});
