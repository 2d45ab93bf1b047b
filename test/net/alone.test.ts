// Own process: it replaces globals and sets environment variables.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { zipSync } from 'fflate';
import { createNetwork } from '../../src/net/index.ts';
import { keySetServer } from '../access/key-set-server.ts';
import { newSigner } from '../access/signers.ts';
import { createResource, untilProcessed, upload } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';
import { apiPeer } from '../tools/api-peer.ts';
import { mcpPeer, textResult } from '../tools/mcp-peer.ts';
import { startCanary } from './canary.ts';
import { hostileUrls } from './hostile-urls.ts';
import { httpServer } from './servers.ts';

const portOf = (url: string) => Number(new URL(url).port);

/** Sets environment variables until the end of the test. */
function withEnvironment(t: TestContext, values: Record<string, string>): void {
	const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
	Object.assign(process.env, values);
	t.after(() => {
		for (const [name, value] of before) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
	});
}

/** Restricts the connections of the platform to the server under test. @returns the other requested addresses */
function withoutOwnWays(t: TestContext): { asked: string[]; allow(origin: string): void } {
	const asked: string[] = [];
	const allowed: string[] = [];
	const platformFetch = globalThis.fetch;
	t.mock.method(globalThis, 'fetch', async (...[input, init]: Parameters<typeof fetch>) => {
		const url = input instanceof Request ? input.url : String(input);
		if (allowed.includes(new URL(url).origin)) return platformFetch(input, init);
		asked.push(`fetch ${url}`);
		throw new Error('Nobody may use this.');
	});
	for (const name of ['WebSocket', 'EventSource'] as const) {
		const before = Object.getOwnPropertyDescriptor(globalThis, name);
		function Refusing(url: unknown): never {
			asked.push(`${name} ${String(url)}`);
			throw new Error('Nobody may use this.');
		}
		Object.defineProperty(globalThis, name, { value: Refusing, configurable: true, writable: true });
		t.after(() => {
			if (before) Object.defineProperty(globalThis, name, before);
			else delete (globalThis as Record<string, unknown>)[name];
		});
	}
	return { asked, allow: (origin) => void allowed.push(origin) };
}

test('sends every request through the guarded network, without another fetch or a proxy of a library', async (t) => {
	await using canary = await startCanary();
	const proxy = `http://127.0.0.1:${canary.port}`;
	const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
	withEnvironment(t, { ...Object.fromEntries(names.map((name) => [name, proxy])), NODE_USE_ENV_PROXY: '1' });
	const ways = withoutOwnWays(t);

	const signer = newSigner('RS256', 'rsa');
	await using model = await ModelServer.start();
	await using api = await apiPeer();
	await using mcp = await mcpPeer({ stock_level: { call: () => textResult('7') } });
	await using keys = await keySetServer(signer.jwk);
	const hooks: string[] = [];
	await using site = await httpServer((request, response) => {
		hooks.push(`${request.method} ${request.url}`);
		response.setHeader('content-type', 'text/plain').end('The kettle has a warranty of two years.');
	});
	await using app = await startTestApp({
		settings: {
			providers: [model.provider({ id: 'one' }), model.provider({ id: 'two', type: 'anthropic' })],
			allow_private_network: true,
		},
	});
	ways.allow(app.url);
	for (const url of [app.url, model.origin, api.origin, mcp.url, keys.url, site.origin]) canary.allow(portOf(url));

	for (const name of ['one/small', 'two/small']) {
		const assistant_id = await createResource(app, '/api/v1/assistants', { name: 'Guide', model: name });
		const deployment_id = await createResource(app, '/api/v1/deployments', { assistant_id });
		const { status, body } = await app.call('POST', '/api/v1/messages', { deployment_id, content: 'Hello' });
		assert.deepEqual([status, body.content], [201, 'Hello.'], name);
	}
	assert.deepEqual(
		model.calls.map(({ path }) => path),
		['/v1/chat/completions', '/v1/messages'],
	);

	const parameters = { type: 'object', properties: {} };
	const tool = { name: 'api', type: 'api', config: { method: 'GET', url: `${api.origin}/now`, parameters } };
	const apiTool = await createResource(app, '/api/v1/tools', tool);
	const called = await app.call('POST', `/api/v1/tools/${apiTool}/test`, { arguments: {} });
	assert.deepEqual([called.body.status_code, api.requests.length], [200, 1]);

	const mcpTool = await createResource(app, '/api/v1/tools', { name: 'mcp', type: 'mcp', config: { url: mcp.url } });
	const { body: functions } = await app.call('GET', `/api/v1/tools/${mcpTool}/functions`);
	assert.equal(functions.data[0].name, 'stock_level');
	const tried = await app.call('POST', `/api/v1/tools/${mcpTool}/test`, { function: 'stock_level', arguments: {} });
	assert.equal(tried.body.result, '7');

	const webhook = { url: `${site.origin}/hook`, events: ['conversation.closed'] };
	const hook = await createResource(app, '/api/v1/webhooks', webhook);
	assert.equal((await app.call('POST', `/api/v1/webhooks/${hook}/test`)).body.delivered, true);

	const knowledgeBase = await createResource(app, '/api/v1/knowledge-bases', { name: 'Shop' });
	const page = { source_type: 'url', url: `${site.origin}/page.txt` };
	const document = await createResource(app, `/api/v1/knowledge-bases/${knowledgeBase}/documents`, page);
	assert.equal((await untilProcessed(app, knowledgeBase, document)).status, 'indexed');
	assert.deepEqual(hooks, ['POST /hook', 'GET /page.txt']);

	const deployment = await createResource(app, '/api/v1/deployments', {
		assistant_id: await createResource(app, '/api/v1/assistants', { name: 'Guide' }),
		allowed_domains: ['*'],
		features: { jwt_required: true },
		jwt: { algorithm: 'RS256', jwks_url: keys.url },
	});
	const authorization = `Bearer ${await signer.sign({ sub: 'ann', exp: Math.floor(Date.now() / 1_000) + 3_600 })}`;
	const path = `/api/v1/widget/conversations/conv_1/messages?deployment_id=${deployment}`;
	assert.equal((await app.callAsVisitor('GET', path, undefined, { authorization })).status, 404);
	assert.equal(keys.requests, 1);

	assert.deepEqual(ways.asked, []);
	assert.deepEqual(canary.seen, []);
});

test('fetches no URL that a document contains', async (t) => {
	await using canary = await startCanary();
	const ways = withoutOwnWays(t);
	await using app = await startTestApp({ overrides: { network: createNetwork({ allowPrivateNetwork: true }) } });
	ways.allow(app.url);
	canary.allow(portOf(app.url));
	const urls = hostileUrls(canary.port).flatMap(({ url }) => (/[\s\0<>&"]/.test(url) ? [] : [url]));
	const each = (line: (url: string) => string) => urls.map(line).join('\n');
	const knowledgeBase = await createResource(app, '/api/v1/knowledge-bases', { name: 'Shop' });
	const documents: Record<string, Uint8Array | string> = {
		'page.html': `<!DOCTYPE html SYSTEM "${urls[0]}"><html><head><title>Kettles</title><base href="${urls[0]}">
			${each((url) => `<link rel="stylesheet" href="${url}"><script src="${url}"></script><meta http-equiv="refresh" content="0;url=${url}">`)}
			</head><body><h1>Kettles</h1><p>They boil.</p>
			${each((url) => `<img src="${url}"><iframe src="${url}"></iframe><object data="${url}"></object><svg><use href="${url}"/></svg>`)}
			</body></html>`,
		'notes.md': `# Kettles\n\nThey boil.\n\n${each((url) => `![a picture](${url})\n\n<img src="${url}">`)}`,
		'letter.docx': zipSync({
			'[Content_Types].xml': Buffer.from(
				'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
			),
			'_rels/.rels': Buffer.from(
				'<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
			),
			'word/_rels/document.xml.rels': Buffer.from(
				`<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${urls
					.map(
						(url, index) =>
							`<Relationship Id="x${index}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="${url}" TargetMode="External"/>`,
					)
					.join('')}</Relationships>`,
			),
			'word/document.xml': Buffer.from(
				`<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Kettles boil.</w:t></w:r></w:p></w:body></w:document>`,
			),
		}),
	};
	for (const [name, bytes] of Object.entries(documents)) {
		const { status, body } = await upload(app, knowledgeBase, name, { bytes });
		assert.equal(status, 201, JSON.stringify(body));
		const document = await untilProcessed(app, knowledgeBase, body.id);
		assert.equal(document.status, 'indexed', `${name}: ${JSON.stringify(document.error)}`);
	}
	assert.deepEqual(ways.asked, []);
	assert.deepEqual(canary.seen, []);
});
