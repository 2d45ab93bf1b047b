import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followRedirect, type OutgoingRequest } from '../../src/net/redirect.ts';

const post: OutgoingRequest = {
	url: new URL('https://a.example/x/y'),
	method: 'POST',
	headers: { accept: '*/*', authorization: 'Bearer t', 'x-api-key': 'k', 'content-type': 'text/plain' },
	body: 'hello',
};

test('resolves a relative redirect against the URL of the response', () => {
	assert.equal(followRedirect(post, 307, '../z?q').url.href, 'https://a.example/z?q');
	assert.equal(followRedirect(post, 307, '//b.example/').url.href, 'https://b.example/');
});

test('refuses a redirect from https to http', () => {
	assert.throws(() => followRedirect(post, 302, 'http://a.example/'), { code: 'url_not_allowed' });
	assert.equal(
		followRedirect({ ...post, url: new URL('http://a.example/') }, 302, 'https://a.example/').url.protocol,
		'https:',
	);
});

test('turns a POST into a GET without a body only where the standard says so', () => {
	for (const status of [301, 302, 303]) {
		const next = followRedirect(post, status, '/next');
		assert.deepEqual([next.method, next.body, next.headers['content-type']], ['GET', null, undefined]);
	}
	for (const status of [307, 308]) {
		const next = followRedirect(post, status, '/next');
		assert.deepEqual([next.method, next.body, next.headers['content-type']], ['POST', 'hello', 'text/plain']);
	}
});

test('does not send headers that may contain a secret to another origin', () => {
	assert.equal(followRedirect(post, 307, '/next').headers['x-api-key'], 'k');
	for (const elsewhere of ['https://b.example/', 'https://a.example:444/', 'https://sub.a.example/']) {
		assert.deepEqual(followRedirect(post, 307, elsewhere).headers, { accept: '*/*', 'content-type': 'text/plain' });
	}
});
