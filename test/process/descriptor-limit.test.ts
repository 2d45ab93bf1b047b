import assert from 'node:assert/strict';
import net from 'node:net';
import test, { after } from 'node:test';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const DESCRIPTORS = 1024;
const SOCKETS = 1100;
/** The share of the descriptors that is reserved for clients. */
const CONNECTIONS = 768;
/** Idle sockets that are closed, so that others can connect. */
const ENDING = 40;

const isWindows = process.platform === 'win32';

test('a server with 1,024 descriptors keeps working with 1,100 idle sockets', {
	skip: isWindows ? 'this system has no limit on descriptors' : false,
}, async () => {
	const server = await startServer({
		env: { PARLEY_LOG_LEVEL: 'info' },
		wrapperCommand: ['/bin/sh', '-c', `ulimit -n ${DESCRIPTORS} && exec "$0" "$@"`],
	});
	after(() => server[Symbol.asyncDispose]());
	const { body: base } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Held' });

	let refused = 0;
	let over = false;
	const held = new Set<net.Socket>();
	/** Keeps one connection open; where the server closes an idle one, the next takes its place. */
	const hold = (mayRepeat: boolean): void => {
		const socket = net.connect(server.port, '127.0.0.1');
		let answer = '';
		held.add(socket);
		socket.on('data', (bytes) => {
			answer += bytes.toString('latin1');
		});
		socket.on('error', () => {});
		socket.on('close', () => {
			held.delete(socket);
			if (answer.startsWith('HTTP/1.1 503')) refused += 1;
			else if (mayRepeat && !over) hold(true);
		});
	};
	after(() => {
		over = true;
		for (const socket of held) socket.destroy();
	});
	for (let count = 0; count < SOCKETS; count++) hold(count >= ENDING);
	await until('those beyond the limit are refused', () => refused >= SOCKETS - CONNECTIONS - ENDING);
	let ending = ENDING;
	for (const socket of held) if (ending-- > 0) socket.destroy();

	await until('an honest client is answered', async () => {
		const answer = await fetch(`${server.url}/healthz`).catch(() => null);
		return answer?.status === 200;
	});
	const path = `/api/v1/knowledge-bases/${base.id}`;
	const form = new FormData();
	form.set('file', new Blob(['# Opening hours\n\nThe shop opens at nine.']), 'hours.md');
	const document = await until('a document is taken', async () => {
		const answer = await server.call('POST', `${path}/documents`, form).catch(() => null);
		return answer?.status === 201 ? answer.body : undefined;
	});
	await until('the document is indexed', async () => {
		const answer = await server.call('GET', `${path}/documents/${document.id}`).catch(() => null);
		assert.notEqual(answer?.body.status, 'error', JSON.stringify(answer?.body));
		return answer?.body.status === 'indexed';
	});
	const found = await until('a search is answered', async () => {
		const answer = await server.call('POST', `${path}/search`, { query: 'when does the shop open' }).catch(() => null);
		return answer?.status === 200 ? answer.body : undefined;
	});
	assert.match(found.data[0].text, /opens at nine/);
	assert.match(server.output(), /new connections are refused/);

	over = true;
	for (const socket of held) socket.destroy();
	await until('the log says that there is room', () => server.output().includes('connections are accepted again'));
	assert.equal((await server.call('GET', path)).status, 200);
	assert.equal((await server.stop()).code, 0);
});
