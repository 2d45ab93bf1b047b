import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Route, StaticFiles } from '../../src/http/index.ts';
import { start } from './harness.ts';

const serve = (files: StaticFiles): Route => ({
	method: 'GET',
	path: '/ui/{file+}',
	handle: (request) => files.respond(request.params.file as string, request),
});

test('serves the files of a folder with their types, and 304 while they are unchanged', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-static-'));
	t.after(() => rm(folder, { recursive: true }));
	await mkdir(join(folder, 'inner'));
	await writeFile(join(folder, 'app.js'), 'let a = "ü";');
	await writeFile(join(folder, 'logo.PNG'), Buffer.from([1, 2, 3]));
	await writeFile(join(folder, 'inner', 'secret.txt'), 'no');
	const files = await StaticFiles.read(folder, undefined, {
		cacheControl: 'public, max-age=60',
		contentSecurityPolicy: "default-src 'self'",
	});
	const { url } = await start(t, [serve(files)]);
	const script = await fetch(`${url}/ui/app.js?v=2`);
	assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
	assert.equal(script.headers.get('cache-control'), 'public, max-age=60');
	assert.equal(script.headers.get('content-security-policy'), "default-src 'self'");
	assert.equal(script.headers.get('x-content-type-options'), 'nosniff');
	assert.equal(await script.text(), 'let a = "ü";');
	const etag = script.headers.get('etag') as string;
	assert.match(etag, /^"[^"]+"$/);
	const again = await fetch(`${url}/ui/app.js`, { headers: { 'if-none-match': etag } });
	assert.equal(again.status, 304);
	assert.equal(again.headers.get('etag'), etag);
	const image = await fetch(`${url}/ui/logo.PNG`);
	assert.equal(image.headers.get('content-type'), 'image/png');
	assert.deepEqual([...new Uint8Array(await image.arrayBuffer())], [1, 2, 3]);
	const escapes = ['nothing.js', 'inner/secret.txt', '..%2f..%2fetc%2fpasswd', 'inner', '__proto__'];
	for (const name of escapes) assert.equal((await fetch(`${url}/ui/${name}`)).status, 404, name);
});

test('reads only the named files, and serves files from memory like them', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-static-'));
	t.after(() => rm(folder, { recursive: true }));
	await writeFile(join(folder, 'a.css'), 'a{}');
	await writeFile(join(folder, 'b.css'), 'b{}');
	const named = await StaticFiles.read(folder, ['a.css']);
	const made = new StaticFiles([['index.html', '<p>hi']]);
	const { url } = await start(t, [serve(named), { ...serve(made), path: '/made/{file+}' }]);
	assert.equal(await (await fetch(`${url}/ui/a.css`)).text(), 'a{}');
	assert.equal((await fetch(`${url}/ui/b.css`)).status, 404);
	const page = await fetch(`${url}/made/index.html`);
	assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
	assert.equal(page.headers.get('cache-control'), 'no-cache');
	await assert.rejects(StaticFiles.read(folder, ['missing.css']), /ENOENT/);
});
