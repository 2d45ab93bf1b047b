import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCors, type Route } from '../../src/http/index.ts';
import { start } from './harness.ts';

const cors = createCors({
	methods: ['GET', 'POST'],
	requestHeaders: ['Content-Type', 'Authorization'],
	exposedHeaders: ['Retry-After', 'ETag'],
	maxAgeSeconds: 600,
});

test('echoes the origin, varies by it, and exposes the headers that scripts may read', () => {
	assert.deepEqual(cors.headers('https://a.example'), [
		['access-control-allow-origin', 'https://a.example'],
		['vary', 'Origin'],
		['access-control-expose-headers', 'Retry-After, ETag'],
	]);
	assert.deepEqual(cors.headers(undefined), [['vary', 'Origin']]);
});

test('answers 204 to a preflight of any origin, and never allows credentials', async (t) => {
	const route: Route = { method: 'OPTIONS', path: '/x', handle: (request) => cors.preflight(request) };
	const { url } = await start(t, [route]);
	const headers = { origin: 'https://b.example', 'access-control-request-method': 'POST' };
	const response = await fetch(`${url}/x`, { method: 'OPTIONS', headers });
	assert.equal(response.status, 204);
	assert.equal(response.headers.get('access-control-allow-origin'), 'https://b.example');
	assert.equal(response.headers.get('access-control-allow-methods'), 'GET, POST');
	assert.equal(response.headers.get('access-control-allow-headers'), 'Content-Type, Authorization');
	assert.equal(response.headers.get('access-control-max-age'), '600');
	assert.equal(response.headers.get('vary'), 'Origin');
	assert.equal(response.headers.get('access-control-allow-credentials'), null);
	const plain = await fetch(`${url}/x`, { method: 'OPTIONS' });
	assert.equal(plain.status, 204);
	assert.equal(plain.headers.get('access-control-allow-origin'), null);
});
