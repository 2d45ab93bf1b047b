import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test('the start page links to the documentation, and to the demo where it is on', async () => {
	for (const demo of [true, false]) {
		await using app = await startTestApp({ settings: { demo } });
		const response = await fetch(`${app.url}/`, { headers: BROWSER });
		assert.equal(response.status, 200);
		assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
		assert.match(
			response.headers.get('content-security-policy') ?? '',
			/^default-src 'none'; script-src 'self'; style-src 'self';/,
		);
		assert.match(response.headers.get('vary') ?? '', /Accept/);
		const links = [...(await response.text()).matchAll(/href="([^"]+)"/g)].map(([, href]) => href as string);
		const pages = links.filter((href) => !href.startsWith('data:'));
		assert.equal(pages.includes('demo'), demo);
		// Links are relative, because a proxy may serve the server below another path.
		for (const href of pages) {
			assert.doesNotMatch(href, /^\/|:/);
			assert.equal((await fetch(new URL(href, `${app.url}/`))).status, 200, href);
		}
	}
});

test('the address of the dashboard with a slash at its end leads to it', async () => {
	await using app = await startTestApp();
	const response = await fetch(`${app.url}/dashboard/`, { redirect: 'manual' });
	assert.equal(response.status, 308);
	assert.equal(new URL(response.headers.get('location') ?? '', response.url).href, `${app.url}/dashboard`);
});

test('returns name, version and links as JSON to a client that asks for JSON', async () => {
	await using app = await startTestApp();
	const response = await fetch(`${app.url}/`, { headers: { accept: 'application/json' } });
	assert.equal(response.status, 200);
	assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
	assert.match(response.headers.get('vary') ?? '', /Accept/);
	const { name, version, links } = (await response.json()) as {
		name: string;
		version: string;
		links: Record<string, string>;
	};
	assert.equal(name, 'Parley');
	assert.match(version, /^\d+\.\d+\.\d+/);
	assert.deepEqual(links, { dashboard: '/dashboard', docs: '/api/docs', openapi: '/api/openapi.json', demo: '/demo' });
	for (const path of Object.values(links)) assert.equal((await fetch(app.url + path)).status, 200, path);
});
