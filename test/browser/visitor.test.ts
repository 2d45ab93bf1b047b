import assert from 'node:assert/strict';
import { openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestApp, type TestApp } from '../support/app.ts';
import {
	noBrowser,
	OTHER_SITE,
	SHOP,
	startBrowser,
	startSite,
	type TestBrowser,
	type TestSite,
} from '../support/browser.ts';
import { until } from '../support/until.ts';

const SAMPLES = fileURLToPath(new URL('../../data/samples/', import.meta.url));
const skip = noBrowser;

let app: TestApp;
let site: TestSite;
let browser: TestBrowser;
let deployment: string;

before(async () => {
	if (skip) return;
	[app, site, browser] = await Promise.all([startTestApp(), startSite(), startBrowser()]);
	site.serve('/', '<!doctype html><title>A shop</title>');
	deployment = await deploy();
});

after(async () => {
	await browser?.[Symbol.asyncDispose]();
	await site?.[Symbol.asyncDispose]();
	await app?.[Symbol.asyncDispose]();
});

/** The five sample documents behind a deployment that the shop may embed. */
async function deploy(): Promise<string> {
	const { body: base } = await app.call('POST', '/api/v1/knowledge-bases', { name: 'Kettles' });
	const files = ['brook-kettle-manual.pdf', 'shipping-and-returns.docx', 'visit-and-contact.html'];
	for (const name of [...files, 'warranty-and-repair.md', 'privacy.txt']) {
		const form = new FormData();
		form.set('file', await openAsBlob(join(SAMPLES, name)), basename(name));
		const { status } = await app.call('POST', `/api/v1/knowledge-bases/${base.id}/documents`, form);
		assert.equal(status, 201);
	}
	await until('the samples are indexed', async () => {
		const { body } = await app.call('GET', `/api/v1/knowledge-bases/${base.id}/status`);
		return body.status === 'ready' && body.documents_indexed === 5;
	});
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Kettle help' });
	const attach = { knowledge_base_id: base.id };
	await app.call('POST', `/api/v1/assistants/${assistant.id}/knowledge-bases`, attach);
	const settings = { assistant_id: assistant.id, allowed_domains: [`${SHOP}:*`] };
	const { body } = await app.call('POST', '/api/v1/deployments', settings);
	return body.id;
}

test("a page on an allowed domain reads the configuration and streams a cited answer into a visitor's browser", {
	skip,
}, async () => {
	await using visitor = await browser.sharedVisitor();
	const { page } = visitor;
	await page.goto(site.url());
	const seen = await page.evaluate(
		async ({ url, id }) => {
			const config = await (await fetch(`${url}/api/v1/widget/config?deployment_id=${id}`)).text();
			const answer = await fetch(`${url}/api/v1/widget/messages`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ deployment_id: id, content: 'When is the shop open on Saturday?', stream: true }),
			});
			return { config, type: answer.headers.get('content-type'), stream: await answer.text() };
		},
		{ url: app.url, id: deployment },
	);
	assert.equal(JSON.parse(seen.config).deployment_id, deployment);
	assert.match(seen.type ?? '', /^text\/event-stream/);
	const events = seen.stream
		.split('\n')
		.filter((line) => line.startsWith('data: '))
		.map((line) => JSON.parse(line.slice(6)));
	const last = events.at(-1);
	assert.equal(last.type, 'message.completed');
	assert.match(last.message.content, /10:00 to 16:00.*\[1\]/s);
	assert.equal(last.message.citations[0].title, 'Visit and contact');
	const deltas = events.filter(({ type }) => type === 'message.delta');
	assert.equal(deltas.map(({ delta }) => delta).join(''), last.message.content);
});

test('a page on another domain can neither read the configuration nor send messages', { skip }, async () => {
	await using visitor = await browser.sharedVisitor();
	const { page } = visitor;
	await page.goto(site.url('/', OTHER_SITE));
	const { statuses, body } = await page.evaluate(
		async ({ url, id }) => {
			const config = await fetch(`${url}/api/v1/widget/config?deployment_id=${id}`);
			const message = await fetch(`${url}/api/v1/widget/messages`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ deployment_id: id, content: 'Hello?' }),
			});
			return { statuses: [config.status, message.status], body: await message.text() };
		},
		{ url: app.url, id: deployment },
	);
	assert.deepEqual(statuses, [403, 403]);
	assert.equal(JSON.parse(body).error.code, 'domain_not_allowed');
});
