import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
before(async () => {
	app = await startTestApp();
});
after(() => app[Symbol.asyncDispose]());

interface Raw {
	status: number;
	headers: Record<string, string | string[] | undefined>;
	body: Buffer;
}

/** A request without fetch, which decompresses and hides some headers. */
function get(path: string, headers: Record<string, string> = {}, url = app.url): Promise<Raw> {
	return new Promise((resolve, reject) => {
		const request = httpRequest(url + path, { headers }, (response) => {
			const chunks: Buffer[] = [];
			response.on('data', (chunk: Buffer) => chunks.push(chunk));
			response.on('end', () =>
				resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
			);
		});
		request.on('error', reject);
		request.end();
	});
}

async function chatFile(): Promise<string> {
	const { body } = await get('/widget.js');
	return `chat${/-[0-9a-f]{10}\.js/.exec(body.toString())?.[0]}`;
}

test('any website may load the script, in the compression that the browser prefers, and revalidates it', async () => {
	const plain = await get('/widget.js');
	assert.equal(plain.status, 200);
	assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');
	assert.equal(plain.headers['access-control-allow-origin'], '*');
	assert.equal(plain.headers['cross-origin-resource-policy'], 'cross-origin');
	assert.equal(plain.headers['cache-control'], 'public, max-age=600, stale-while-revalidate=86400');
	assert.equal(plain.headers['content-encoding'], undefined);
	assert.match(String(plain.headers.vary), /Accept-Encoding/);
	const gzip = await get('/widget.js', { 'accept-encoding': 'gzip, deflate' });
	assert.equal(gzip.headers['content-encoding'], 'gzip');
	assert.deepEqual(gunzipSync(gzip.body), plain.body);
	const brotli = await get('/widget.js', { 'accept-encoding': 'gzip, deflate, br;q=0.9' });
	assert.equal(brotli.headers['content-encoding'], 'br');
	assert.deepEqual(brotliDecompressSync(brotli.body), plain.body);
	assert.equal(
		(await get('/widget.js', { 'accept-encoding': 'br;q=0, gzip;q=0.0' })).headers['content-encoding'],
		undefined,
	);
	assert.equal(new Set([plain, gzip, brotli].map(({ headers }) => headers.etag)).size, 3);
	const again = await get('/widget.js', { 'if-none-match': String(brotli.headers.etag), 'accept-encoding': 'br' });
	assert.deepEqual([again.status, again.body.length, again.headers['access-control-allow-origin']], [304, 0, '*']);
});

test('caches the chat by its hashed name for ever; the hashed name of an older version returns the present file, uncached', async () => {
	const name = await chatFile();
	const chat = await get(`/widget/${name}`);
	assert.equal(chat.headers['cache-control'], 'public, max-age=31536000, immutable');
	const older = await get('/widget/chat-0123456789.js');
	assert.equal(older.headers['cache-control'], 'no-store');
	assert.deepEqual(older.body, chat.body);
	for (const path of [
		'/widget/',
		'/widget/nothing.js',
		'/widget/xx-0123456789.js',
		'/widget/..%2Fmain.js',
		'/widget/widget.js.gz',
	]) {
		assert.equal((await get(path)).status, 404, path);
	}
	const module = await get('/widget.mjs');
	assert.match(module.body.toString(), /export\{/);
	assert.match((await get('/widget.d.mts')).body.toString(), /createWidget\(options: WidgetOptions\): Widget/);
});

test("the demo's origin may use every deployment, and no other origin gains from that", async () => {
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Shop' });
	const { body } = await app.call('POST', '/api/v1/deployments', { assistant_id: assistant.id });
	const config = `/api/v1/widget/config?deployment_id=${body.id}`;
	const { port, host } = new URL(app.url);
	const status = async (headers: Record<string, string>, url?: string) => (await get(config, headers, url)).status;

	assert.equal(await status({ origin: app.url }), 200);
	assert.equal(await status({ referer: `${app.url}/demo?deployment_id=${body.id}` }), 200);
	assert.equal(await status({ origin: `http://localhost:${port}`, host: `localhost:${port}` }), 200);
	const others: Array<Record<string, string>> = [
		{},
		{ origin: 'null' },
		{ origin: 'https://shop.example' },
		{ origin: 'https://shop.example', referer: `${app.url}/demo` },
		// Another server on this machine, and the same host under another scheme or name.
		{ origin: 'http://127.0.0.1:1' },
		{ origin: `http://localhost:${port}` },
		{ origin: `http://127.0.0.1.evil.example:${port}` },
		// A website whose name resolves to this server: its Origin and Host agree, but its name is not a loopback address.
		{ origin: `http://evil.example:${port}`, host: `evil.example:${port}` },
		{ origin: `http://evil.example:${port}`, host },
	];
	for (const headers of others) {
		assert.equal(await status(headers), 403, JSON.stringify(headers));
	}
});

test('with a public address the demo is allowed there and on loopback, and switched off it has no permission', async () => {
	for (const [settings, allowed] of [
		[{ public_url: 'https://chat.example.com', demo: true }, true],
		[{ public_url: 'https://chat.example.com', demo: false }, false],
	] as const) {
		await using other = await startTestApp({ settings });
		const { body: assistant } = await other.call('POST', '/api/v1/assistants', { name: 'Shop' });
		const { body } = await other.call('POST', '/api/v1/deployments', { assistant_id: assistant.id });
		const status = async (origin: string) =>
			(await get(`/api/v1/widget/config?deployment_id=${body.id}`, { origin }, other.url)).status;
		assert.equal(await status('https://chat.example.com'), allowed ? 200 : 403);
		assert.equal(await status(other.url), allowed ? 200 : 403);
		assert.equal(await status('https://shop.example'), 403);
		assert.equal((await get('/demo', {}, other.url)).status, allowed ? 200 : 404);
	}
	const page = await get('/demo');
	// Behind a proxy it may have a path prefix.
	for (const name of ['/demo', '/demo/page.js']) {
		assert.doesNotMatch((await get(name)).body.toString(), /(href|src) ?= ?["']\/|fetch\('\//, name);
	}
	assert.match(
		String(page.headers['content-security-policy']),
		/default-src 'none'; script-src 'self'.*frame-ancestors 'none'/,
	);
});
