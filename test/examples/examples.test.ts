import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const ORIGIN = 'https://shop.example';

let server: ServerProcess;
let assistant: string;
before(async () => {
	// Receivers of webhooks run on this machine.
	server = await startServer({ env: { PARLEY_ALLOW_PRIVATE_NETWORK: '1' } });
	const knowledgeBase = (await server.call('POST', '/api/v1/knowledge-bases', { name: 'Kettles' })).body.id;
	const form = new FormData();
	const manual = await readFile(new URL('../../data/samples/brook-kettle-manual.pdf', import.meta.url));
	form.set('file', new Blob([manual]), 'manual.pdf');
	const added = await server.call('POST', `/api/v1/knowledge-bases/${knowledgeBase}/documents`, form);
	assert.equal(added.status, 201, JSON.stringify(added.body));
	await until('the document is indexed', async () => {
		const { body } = await server.call('GET', `/api/v1/knowledge-bases/${knowledgeBase}/status`);
		return body.status === 'ready';
	});
	assistant = (await server.call('POST', '/api/v1/assistants', { name: 'Kettle help' })).body.id;
	const attached = { knowledge_base_id: knowledgeBase };
	await server.call('POST', `/api/v1/assistants/${assistant}/knowledge-bases`, attached);
});
after(() => server[Symbol.asyncDispose]());

test('stream-reply prints the reply and its sources', async (t) => {
	const env = { PARLEY: server.url, KEY: server.key };
	// On a busy machine a search may take longer than a reply waits for it.
	const { deployment, out } = await until('a reply with a search', async () => {
		const deployment = await deploy({});
		const { code, out } = await run(t, 'stream-reply.mjs', [deployment, 'What does error code E3 mean?'], env);
		assert.equal(code, 0, out);
		return !out.includes('I cannot search the documents right now') && { deployment, out };
	});
	const { data } = (await server.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body;
	assert.equal(data.length, 1);
	const messages = (await server.call('GET', `/api/v1/conversations/${data[0].id}/messages`)).body.data;
	const sources = messages[1].citations.map(
		({ index, title, page }: { index: number; title: string; page: number }) => `[${index}] ${title}, page ${page}\n`,
	);
	assert.match(messages[1].content, /temperature sensor/);
	assert.equal(out, `${messages[1].content}\n${sources.join('')}`);

	const unknown = await run(t, 'stream-reply.mjs', ['dep_none', 'Hello?'], env);
	assert.equal(unknown.code, 1);
	assert.match(unknown.out, /^404 not_found: /);
});

test('webhook-receiver prints each signed event once and refuses unsigned requests', async (t) => {
	const created = await server.call('POST', '/api/v1/webhooks', {
		// The URL is changed after the receiver has its port; the receiver needs the secret first.
		url: 'http://127.0.0.1:3000/',
		events: ['assistant.updated'],
	});
	assert.equal(created.status, 201, JSON.stringify(created.body));
	const { id, signing_secret: secret } = created.body;
	const receiver = start(t, 'webhook-receiver.mjs', ['0'], { SECRET: secret });
	const url = await until('the receiver listens', () => {
		assert.equal(receiver.child.exitCode, null, receiver.printed());
		return /Listening on (\S+)/.exec(receiver.printed())?.[1];
	});
	assert.equal((await server.call('PATCH', `/api/v1/webhooks/${id}`, { url })).status, 200);
	await server.call('PATCH', `/api/v1/assistants/${assistant}`, { description: 'Answers about kettles.' });
	await until('the event is printed', () => / assistant\.updated evt_/.test(receiver.printed()));
	const deliveries = `/api/v1/webhooks/${id}/deliveries`;
	const delivered = await until('the delivery is stored', async () => {
		const { data } = (await server.call('GET', `${deliveries}?status=delivered`)).body;
		return data[0];
	});
	assert.equal(delivered.attempts, 1);
	const repeated = await server.call('POST', `${deliveries}/${delivered.id}/retry`);
	assert.equal(repeated.status, 200, JSON.stringify(repeated.body));
	await until('the repeat is stored', async () => {
		return (await server.call('GET', `${deliveries}/${delivered.id}`)).body.attempts === 2;
	});
	assert.equal(receiver.printed().match(/assistant\.updated/g)?.length, 1, receiver.printed());

	const body = '{"id":"evt_1","type":"assistant.updated","created_at":"now","data":{}}';
	const post = async (key: string, at: number) => {
		const timestamp = String(Math.floor(at / 1000));
		const signature = createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
			.update(`evt_1.${timestamp}.${body}`)
			.digest('base64');
		const headers = {
			'webhook-id': 'evt_1',
			'webhook-timestamp': timestamp,
			'webhook-signature': `v1,bm90aGluZw== v1,${signature}`,
		};
		return (await fetch(url, { method: 'POST', headers, body })).status;
	};
	assert.equal(await post(`whsec_${Buffer.alloc(32).toString('base64')}`, Date.now()), 401, 'another secret');
	assert.equal(await post(secret, Date.now() - 3_600_000), 401, 'an hour ago');
	assert.equal((await fetch(url, { method: 'POST', body })).status, 401, 'no signature');
	assert.equal(await post(secret, Date.now()), 204);
});

test('visitor-token creates a token that the widget’s operations accept', async (t) => {
	const secret = 'a secret of the website, of at least 32 bytes';
	const deployment = await deploy({ features: { jwt_required: true }, jwt: { algorithm: 'HS256', secret } });
	const { code, out } = await run(t, 'visitor-token.mjs', ['customer-17', 'Ann Example'], { SECRET: secret });
	assert.equal(code, 0, out);
	const send = (authorization: Record<string, string>) =>
		fetch(`${server.url}/api/v1/widget/messages`, {
			method: 'POST',
			headers: { origin: ORIGIN, 'content-type': 'application/json', ...authorization },
			body: JSON.stringify({ deployment_id: deployment, content: 'What does error code E3 mean?' }),
		});
	assert.equal((await send({})).status, 401);
	const answer = await send({ authorization: `Bearer ${out.trim()}` });
	assert.equal(answer.status, 201);
	const { conversation_id } = (await answer.json()) as { conversation_id: string };
	const { end_user } = (await server.call('GET', `/api/v1/conversations/${conversation_id}`)).body;
	assert.deepEqual(end_user, { id: 'customer-17', name: 'Ann Example', email: null });
});

test('each example prints its usage if it is started without arguments', async (t) => {
	for (const name of ['stream-reply.mjs', 'webhook-receiver.mjs', 'visitor-token.mjs']) {
		const { code, out } = await run(t, name, [], {});
		assert.equal(code, 2, name);
		assert.match(out, new RegExp(`^Usage: .*${name}`));
	}
});

test('the cluster refuses a wrong argument, and a database without the key that goes with it', async (t) => {
	const wrong = await run(t, 'cluster/start.mjs', ['sqlite:here'], {});
	assert.equal(wrong.code, 2);
	assert.match(wrong.out, /^Usage: .*cluster\/start\.mjs/);
	const keyless = await run(t, 'cluster/start.mjs', ['postgres://user@127.0.0.1/name'], {});
	assert.equal(keyless.code, 2);
	assert.match(keyless.out, /PARLEY_SECRET_KEY/);
});

async function deploy(settings: object): Promise<string> {
	const deployment = { assistant_id: assistant, allowed_domains: ['shop.example'], ...settings };
	const { status, body } = await server.call('POST', '/api/v1/deployments', deployment);
	assert.equal(status, 201, JSON.stringify(body));
	return body.id;
}

/** A running example; it ends with its test. */
function start(t: TestContext, name: string, args: string[], env: Record<string, string>) {
	const child: ChildProcess = spawn(process.execPath, [`examples/${name}`, ...args], {
		cwd: root,
		env: { PATH: process.env.PATH ?? '', ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	t.after(() => child.kill('SIGKILL'));
	let printed = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream?.on('data', (bytes: Buffer) => {
			printed += bytes.toString();
		});
	}
	return { child, printed: () => printed };
}

async function run(t: TestContext, name: string, args: string[], env: Record<string, string>) {
	const { child, printed } = start(t, name, args, env);
	const [code] = (await once(child, 'close')) as [number | null];
	return { code, out: printed() };
}
