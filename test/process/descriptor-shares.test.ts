import assert from 'node:assert/strict';
import net from 'node:net';
import test, { after } from 'node:test';
import { tcpServer } from '../net/servers.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const DESCRIPTORS = 256;
/** What of them connections to providers, and files that are received, may take. */
const MODELS = 40;
const UPLOADS = 12;
const MESSAGES = 150;
const BATCH = 30;

/** A request on a connection of its own. */
class Client {
	answer = '';
	readonly #socket: net.Socket;

	constructor({ port, key }: ServerProcess, path: string, headers: string[], body: string) {
		this.#socket = net.connect(port, '127.0.0.1');
		const head = [`POST ${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${key}`, ...headers];
		this.#socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
		this.#socket.on('data', (bytes) => {
			this.answer += bytes.toString('latin1');
		});
		this.#socket.on('error', () => {});
	}

	leave(): void {
		this.#socket.destroy();
	}
}

test('a hanging provider and many slow uploads do not exhaust the server’s descriptors', {
	skip: process.platform === 'win32' ? 'this system has no limit on descriptors' : false,
}, async () => {
	await using provider = await tcpServer(() => {});
	const providers = [{ id: 'slow', type: 'openai-compatible', base_url: `${provider.origin}/v1` }];
	const server = await startServer({
		env: { PARLEY_PROVIDERS: JSON.stringify(providers) },
		wrapperCommand: ['/bin/sh', '-c', `ulimit -n ${DESCRIPTORS} && exec "$0" "$@"`],
	});
	after(() => server[Symbol.asyncDispose]());
	const { body: base } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Slow' });
	const { body: assistant } = await server.call('POST', '/api/v1/assistants', { name: 'Slow', model: 'slow/x' });
	const { body: deployment } = await server.call('POST', '/api/v1/deployments', {
		name: 'Slow',
		assistant_id: assistant.id,
	});

	const message = JSON.stringify({ deployment_id: deployment.id, content: 'Hello?', stream: true });
	for (let sent = 0; sent < MESSAGES; sent += BATCH) {
		const headers = ['Content-Type: application/json', `Content-Length: ${message.length}`];
		const clients = Array.from({ length: BATCH }, () => new Client(server, '/api/v1/messages', headers, message));
		await until('all messages are stored', () => clients.every(({ answer }) => answer.includes('message.created')));
		for (const client of clients) client.leave();
	}
	await until('the provider has as many connections as it may', () => provider.connections === MODELS);

	const path = `/api/v1/knowledge-bases/${base.id}/documents`;
	const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nThe beginning';
	const headers = ['Content-Type: multipart/form-data; boundary=b', 'Content-Length: 100000'];
	const uploads = Array.from({ length: 2 * UPLOADS }, () => new Client(server, path, headers, part));
	await until('uploads beyond the limit are refused', () => {
		return uploads.filter(({ answer }) => answer.includes('Too many files are being received')).length === UPLOADS;
	});
	const ready = await server.call('GET', '/readyz');
	assert.deepEqual([ready.status, ready.body], [200, { status: 'ready' }]);
	for (const upload of uploads) upload.leave();

	const form = new FormData();
	form.set('file', new Blob(['# Opening hours\n\nThe shop opens at nine.']), 'hours.md');
	const document = await until('a document is taken', async () => {
		const answer = await server.call('POST', path, form);
		return answer.status === 201 ? answer.body : undefined;
	});
	await until('the document is indexed', async () => {
		return (await server.call('GET', `${path}/${document.id}`)).body.status === 'indexed';
	});
	assert.equal(provider.connections, MODELS, 'others wait for their turn');
	assert.doesNotMatch(server.output(), /EMFILE/);
});
