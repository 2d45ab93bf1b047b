import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { startApp } from '../../src/app.ts';
import { createLog } from '../../src/base/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { createApiFixture } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, { deployment: { rate_limit: { messages_per_minute: 1 } } });

const WIDGET = '/api/v1/widget';
const MESSAGES = `${WIDGET}/messages`;

type Answer = Pick<Response, 'status' | 'headers'>;

/** A page can read why its request was rejected, and no cache stores the response. */
function assertReadable(response: Answer, status: number, what: string): void {
	assert.equal(response.status, status, what);
	assert.equal(response.headers.get('access-control-allow-origin'), ORIGIN, what);
	assert.match(response.headers.get('vary') ?? '', /\borigin\b/i, what);
	assert.match(response.headers.get('access-control-expose-headers') ?? '', /retry-after.*x-request-id/i, what);
	assert.equal(response.headers.get('cache-control'), 'no-store', what);
}

/** A request with its path exactly as given. */
const ask = (path: string, init: RequestInit = {}, url = app.url) =>
	fetch(url + path, { ...init, headers: { origin: ORIGIN, ...init.headers } });

const post = (path: string, body: string, type = 'application/json') =>
	ask(path, { method: 'POST', headers: { 'content-type': type }, body });

test('rejects a path with broken percent-encoding with an error that the page can read', async () => {
	for (const path of [
		`${WIDGET}/%zz`,
		`${WIDGET}/%`,
		`${WIDGET}/config%`,
		`${WIDGET}/conversations/%c3%28/messages?deployment_id=${deployment}`,
		`${WIDGET}/conversations/%ff/events`,
		'/api/v1/widge%74/conversations/%ff/events',
		'/%61pi/v1/widget/%e0%a4%a',
	]) {
		for (const method of ['GET', 'POST', 'OPTIONS'])
			assertReadable(await ask(path, { method }), 400, `${method} ${path}`);
	}
});

test('recognises a widget path in any encoding, and no other path as one', async () => {
	for (const path of ['/api/v1/widge%74/nothing', '/api%2fv1/widget/config', '/api/v1/%77idget/messages']) {
		const response = await ask(path);
		assert.ok([404, 405].includes(response.status), path);
	}
	assertReadable(await ask('/api/v1/widge%74/nothing'), 404, 'encoded');
	assertReadable(await ask('/api/v1/%77idget/messages'), 405, 'encoded');
	for (const path of [
		'/api/v1/%ff',
		'/%zz',
		'/api/v1/widgets/x',
		'/api/v1/%zz/widget/config',
		'/api/v1/assistants/%ff',
	]) {
		const response = await ask(path);
		assert.ok(response.status >= 400, path);
		assert.equal(response.headers.get('access-control-allow-origin'), null, path);
	}
});

test('a page can read the reason of every rejection', async () => {
	assertReadable(await ask(`${WIDGET}/nothing`), 404, 'no such path');
	assertReadable(await ask(`${WIDGET}/config?deployment_id=dep_1`), 404, 'no such deployment');
	const wrong = await ask(MESSAGES, { method: 'DELETE' });
	assertReadable(wrong, 405, 'another method');
	assert.match(wrong.headers.get('allow') ?? '', /POST/);
	assertReadable(await post(MESSAGES, '{'), 400, 'no JSON');
	assertReadable(await post(MESSAGES, '{}', 'text/plain'), 400, 'another type');
	const large = JSON.stringify({ deployment_id: deployment, content: 'x'.repeat(1024 * 1024) });
	assertReadable(await post(MESSAGES, large), 413, 'too large');
	const message = JSON.stringify({ deployment_id: deployment, content: 'Hi' });
	assert.equal((await post(MESSAGES, message)).status, 201);
	const early = await post(MESSAGES, message);
	assertReadable(early, 429, 'too soon');
	assert.ok(Number(early.headers.get('retry-after')) > 0);
});

test('a page can read that the server is shutting down', async () => {
	const data_dir = await mkdtemp(join(tmpdir(), 'parley-test-'));
	try {
		const defaults = loadConfig({ env: {}, file: join(data_dir, 'no-such-file.json') });
		await using leaving = await startApp({ ...defaults, port: 0, data_dir }, { log: createLog('silent') });
		await leaving.drain(1_000);
		const paths = [`${WIDGET}/config?deployment_id=${deployment}`, `${WIDGET}/conversations/conv_1/messages`];
		for (const path of paths) {
			const response = await ask(path, {}, leaving.url);
			assertReadable(response, 503, path);
			assert.ok(Number(response.headers.get('retry-after')) > 0);
		}
	} finally {
		await rm(data_dir, { recursive: true, force: true });
	}
});
