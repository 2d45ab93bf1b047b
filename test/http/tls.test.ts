import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { type TestContext, test } from 'node:test';
import tls from 'node:tls';
import type { Route } from '../../src/http/index.ts';
import { certificateFiles, createCertificate } from '../support/certificate.ts';
import { httpsRequest } from '../support/https-request.ts';
import { eventually, RawClient, start } from './harness.ts';

const hello: Route = {
	method: 'GET',
	path: '/hello',
	handle: ({ clientAddress }) => ({ status: 200, body: `hello ${clientAddress}` }),
};

async function startTls(t: TestContext, routes: Route[] = [hello], options = {}) {
	const files = await certificateFiles(t, { name: 'first' });
	const { server, port } = await start(t, routes, { tls: files, ...options });
	return { server, port, files, url: `https://127.0.0.1:${port}` };
}

/** A client over TLS that keeps its connection. */
function keepAliveAgent(t: TestContext): Agent {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	t.after(() => agent.destroy());
	return agent;
}

test('answers over TLS 1.2 and 1.3 with the certificate of its files', async (t) => {
	const { url } = await startTls(t);
	for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
		const response = await httpsRequest(`${url}/hello`, { minVersion: version, maxVersion: version });
		assert.deepEqual([response.body, response.certificateName], ['hello 127.0.0.1', 'first'], version);
	}
	await assert.rejects(httpsRequest(`${url}/hello`, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }));
});

test('closes a connection that speaks plain HTTP on the TLS port, and serves others on', async (t) => {
	const { port, url } = await startTls(t);
	const plain = new RawClient(t, port);
	plain.send('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
	assert.ok(!(await plain.untilClosed()).includes('hello'));
	assert.equal((await httpsRequest(`${url}/hello`)).status, 200);
});

test('does not listen with files that are no certificate', async (t) => {
	const files = await certificateFiles(t);
	await writeFile(files.certificate, '');
	await assert.rejects(start(t, [hello], { tls: files }), { message: /^There is no certificate in PEM in / });
});

test('a reload gives new connections the new certificate, again and again, and older ones continue', async (t) => {
	const { server, url, files } = await startTls(t);
	const agent = keepAliveAgent(t);
	await httpsRequest(`${url}/hello`, { agent });
	for (const name of ['second', 'third', 'fourth']) {
		await files.write(createCertificate({ name }));
		assert.equal(server.reloadCertificate()?.names, `${name}, 127.0.0.1`);
		const response = await httpsRequest(`${url}/hello`);
		assert.deepEqual([response.certificateName, response.body], [name, 'hello 127.0.0.1']);
		assert.equal((await httpsRequest(`${url}/hello`, { agent })).certificateName, 'first');
	}
	agent.destroy();
	await eventually(() => server.openConnections === 0, 'all connections are counted as closed');
});

test('a stream and requests that arrive during reloads are all answered', async (t) => {
	let finish = () => {};
	const finished = new Promise<void>((resolve) => {
		finish = resolve;
	});
	const slow: Route = {
		method: 'GET',
		path: '/slow',
		async handle() {
			await finished;
			return { status: 200, body: 'at last' };
		},
	};
	const { server, url, files } = await startTls(t, [hello, slow]);
	const slowResponse = httpsRequest(`${url}/slow`);
	await eventually(() => server.openConnections === 1, 'the slow request has a connection');
	let answered = 0;
	let isReloading = true;
	const client = async () => {
		while (isReloading) {
			assert.equal((await httpsRequest(`${url}/hello`)).status, 200);
			answered += 1;
		}
	};
	const clients = Array.from({ length: 4 }, client);
	for (let round = 0; round < 20; round++) {
		const before = answered;
		await files.write(createCertificate({ name: `round ${round}` }));
		server.reloadCertificate();
		await eventually(() => answered > before, 'a request is answered after the reload');
	}
	isReloading = false;
	await Promise.all(clients);
	finish();
	assert.deepEqual((await slowResponse).body, 'at last');
});

test('a reload with wrong files is an error, and the former certificate stays', async (t) => {
	const { server, url, files } = await startTls(t);
	const certificateName = async () => (await httpsRequest(`${url}/hello`)).certificateName;
	await writeFile(files.key, createCertificate().key);
	assert.throws(() => server.reloadCertificate(), { message: /does not belong to the certificate/ });
	assert.equal(await certificateName(), 'first');
	await rm(files.certificate);
	assert.throws(() => server.reloadCertificate(), { message: /certificate does not exist/ });
	assert.equal(await certificateName(), 'first');
	await files.write(createCertificate({ name: 'second' }));
	server.reloadCertificate();
	assert.equal(await certificateName(), 'second');
});

test('the disposal closes the connections of every certificate and the port', async (t) => {
	const { server, port, url, files } = await startTls(t);
	const agents = [keepAliveAgent(t), keepAliveAgent(t)];
	for (const agent of agents) {
		await httpsRequest(`${url}/hello`, { agent });
		await files.write(createCertificate({ name: 'next' }));
		server.reloadCertificate();
	}
	assert.equal(server.openConnections, 2);
	await server[Symbol.asyncDispose]();
	await eventually(() => server.openConnections === 0, 'the connections are closed');
	await assert.rejects(httpsRequest(`https://127.0.0.1:${port}/hello`));
});

test('a connection beyond the limit is refused over TLS, also after a reload', async (t) => {
	const { server, port, url, files } = await startTls(t, [hello], { maxConnections: 2 });
	const connect = async () => {
		const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
		t.after(() => socket.destroy());
		await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
		return socket;
	};
	const [first] = [await connect(), await connect()];
	for (const isReloaded of [false, true]) {
		if (isReloaded) {
			await files.write(createCertificate({ name: 'second' }));
			server.reloadCertificate();
		}
		const refused = await httpsRequest(`${url}/hello`).then(
			({ status }) => status,
			() => 'closed',
		);
		assert.ok([503, 'closed'].includes(refused), String(refused));
		await eventually(() => server.openConnections === 2, 'the refused connection is closed');
	}
	first.destroy();
	await eventually(() => server.openConnections === 1, 'a place is free');
	assert.equal((await httpsRequest(`${url}/hello`)).status, 200);
});
