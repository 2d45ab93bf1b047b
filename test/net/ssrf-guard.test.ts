import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { request } from 'undici';
import { AppError } from '../../src/base/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { interfaceAddresses } from '../../src/net/interface-addresses.ts';
import { createPurposeAgent } from '../../src/net/purpose-agent.ts';
import { createSsrfGuard, type SsrfGuardOptions } from '../../src/net/ssrf-guard.ts';
import { until } from '../support/until.ts';
import { startCanary } from './canary.ts';
import { hostileUrls, resolveHostile } from './hostile-urls.ts';
import { httpServer, tcpServer } from './servers.ts';

/** The agent that downloads use, without the checks of their callers. */
const agentOf = (options: SsrfGuardOptions) =>
	createPurposeAgent(createSsrfGuard(options), 'document', { maxIdleMs: 1_000, maxConnections: 100 });

test('opens no connection for any spelling of a hostile URL or any name of a private address', async () => {
	await using canary = await startCanary();
	const options = { allowPrivateNetwork: false, resolve: resolveHostile };
	await using network = createNetwork(options);
	const dispatcher = agentOf(options);
	const table = hostileUrls(canary.port);
	assert.ok(table.length >= 200, `${table.length} URLs`);
	for (const { url, refused } of table) {
		if (refused === 'given') {
			assert.throws(() => network.checkUrl(url), { name: 'AppError', code: 'url_not_allowed' }, url);
		} else {
			assert.equal(network.checkUrl(url).href, new URL(url).href);
		}
		await assert.rejects(network.download(url), { name: 'AppError', code: 'url_not_allowed' }, url);
		await assert.rejects(network.fetch(url), { name: 'AppError', code: 'url_not_allowed' }, url);
		const { status, error } = await network.post(url, { headers: {}, body: '', timeoutMs: 20_000, maxBodyBytes: 100 });
		assert.deepEqual([status, error === null], [null, false], url);
		// The agent is guarded even if a caller does not check the URL.
		await assert.rejects(async () => (await request(url, { dispatcher })).statusCode, Error, url);
	}
	await dispatcher.destroy();
	assert.deepEqual(canary.seen, []);
});

test('resolves a name once, so an answer that changes after the check has no effect', async (t) => {
	await using good = await httpServer((_request, response) => {
		response.setHeader('connection', 'close').end('good');
	});
	await using trap = await tcpServer((socket) => socket.destroy(), '127.0.0.2', good.port).catch(() => null);
	if (trap === null) return t.skip('needs the loopback address 127.0.0.2, which this system does not have');
	const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.2'];
	let asked = 0;
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async () => [{ address: answers[asked++]!, family: 4 }],
		isAddressAllowed: (address) => address === '127.0.0.1',
	});
	const url = `http://rebinding.example:${good.port}/`;
	const first = await network.download(url);
	assert.equal(await textOf(first.body), 'good');
	assert.equal(asked, 1, 'the name is resolved once, and the connection goes to what was judged');
	await assert.rejects(network.download(url), { code: 'url_not_allowed' });
	assert.equal(asked, 2);
	assert.equal(trap.connections, 0);
});

test('connects to the checked address, with the name in TLS and the Host header', async () => {
	let hello = '';
	let host: string | undefined;
	await using tls = await tcpServer((socket) => {
		socket.once('data', (bytes) => {
			hello = bytes.toString('latin1');
			socket.destroy();
		});
	});
	await using plain = await httpServer((incoming, response) => {
		host = incoming.headers.host;
		response.end();
	});
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async () => [{ address: '127.0.0.1', family: 4 }],
		isAddressAllowed: (address) => address === '127.0.0.1',
	});
	await assert.rejects(network.download(`https://pinned.example:${tls.port}/`), { code: 'unreadable_file' });
	assert.match(hello, /pinned\.example/);
	await using _file = await network.download(`http://pinned.example:${plain.port}/`);
	assert.equal(host, `pinned.example:${plain.port}`);
});

test('checks a name again for each connection, and connects to the checked address', async (t) => {
	await using good = await httpServer((_request, response) => response.setHeader('connection', 'close').end('good'));
	await using trap = await tcpServer((socket) => socket.destroy(), '127.0.0.2', good.port).catch(() => null);
	if (trap === null) return t.skip('needs the loopback address 127.0.0.2, which this system does not have');
	let asked = 0;
	await using network = createNetwork({
		allowPrivateNetwork: false,
		// Every second response is the forbidden address; some have both.
		resolve: async () =>
			[['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '127.0.0.2'], ['127.0.0.2', '127.0.0.1']][asked++ % 4]!.map(
				(address) => ({
					address,
					family: 4,
				}),
			),
		isAddressAllowed: (address) => address === '127.0.0.1',
	});
	const url = `http://rebinding.example:${good.port}/`;
	for (let turn = 0; turn < 40; turn++) {
		const file = network.download(url);
		if (turn % 4 === 0) assert.equal(await textOf((await file).body), 'good');
		else await assert.rejects(file, { code: 'url_not_allowed' });
	}
	assert.equal(asked, 40);
	assert.equal(trap.connections, 0);
});

test('does not use the connection of one name for another name', async () => {
	const hosts: Array<string | undefined> = [];
	await using server = await httpServer((incoming, response) => {
		hosts.push(incoming.headers.host);
		response.end('here');
	});
	let bad = false;
	const judged: string[] = [];
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async (name) => [{ address: name === 'good.example' && !bad ? '127.0.0.1' : '10.0.0.1', family: 4 }],
		isAddressAllowed: (address) => {
			judged.push(address);
			return address === '127.0.0.1';
		},
	});
	const good = `http://good.example:${server.port}/`;
	const send = (url: string) => network.post(url, { headers: {}, body: '', timeoutMs: 20_000, maxBodyBytes: 100 });
	assert.equal((await send(good)).status, 200);
	assert.equal((await send(`http://other.example:${server.port}/`)).status, null, 'the same port, another name');
	assert.equal((await send(`http://127.0.0.3:${server.port}/`)).status, null);
	bad = true;
	// A new connection would be refused.
	await until('the connection that there is is free again', async () => (await send(good)).status === 200);
	assert.deepEqual([...new Set(hosts)], [`good.example:${server.port}`]);
	assert.equal(server.connections, 1);
	assert.equal(judged.filter((address) => address === '127.0.0.1').length, 1);
});

test('ignores Alt-Svc and other offers of another address or protocol', async () => {
	await using canary = await startCanary();
	const hello: string[] = [];
	await using plain = await httpServer((_request, response) => {
		response.setHeader('alt-svc', `h2="127.0.0.1:${canary.port}"; ma=3600, h3=":${canary.port}"; persist=1`);
		response.setHeader('link', `<http://127.0.0.1:${canary.port}/>; rel=preload`);
		response.setHeader('refresh', `0; url=http://127.0.0.1:${canary.port}/`);
		response.writeEarlyHints({ link: `<http://127.0.0.1:${canary.port}/>; rel=preload` });
		response.end('here');
	});
	await using secure = await tcpServer((socket) => {
		socket.once('data', (bytes) => {
			hello.push(bytes.toString('latin1'));
			socket.destroy();
		});
	});
	for (const { port } of [plain, secure]) canary.allow(port);
	await using network = createNetwork({ allowPrivateNetwork: true });
	for (let turn = 0; turn < 3; turn++) {
		assert.equal(await textOf((await network.download(plain.origin)).body), 'here');
		assert.equal(await (await network.fetch(plain.origin)).text(), 'here');
	}
	await assert.rejects(network.download(`https://127.0.0.1:${secure.port}/`));
	assert.match(hello[0] ?? '', /http\/1\.1/);
	assert.ok(!hello[0]?.includes('\x02h2'), 'HTTP/2 is not offered in TLS');
	assert.deepEqual(canary.seen, []);
});

test('does not connect to its own public address', async () => {
	const answers: Record<string, string[]> = {
		'self.example': ['11.22.33.44'],
		'self-mapped.example': ['::ffff:11.22.33.44'],
		'self6.example': ['2a00:aa::7'],
		'among-others.example': ['3ffe::1', '2a00:aa:0:0:0:0:0:7'],
	};
	await using canary = await startCanary();
	await using network = createNetwork({
		allowPrivateNetwork: false,
		interfaceAddresses: () => ['127.0.0.1', '11.22.33.44', '2a00:aa::7', 'fe80::1'],
		resolve: async (name) =>
			(answers[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
	});
	for (const host of ['11.22.33.44', '0x0b.22.8492', '[::ffff:11.22.33.44]', '[2a00:aa::7]', '[2A00:AA:0:0::7]']) {
		assert.throws(() => network.checkUrl(`https://${host}:8443/`), { code: 'url_not_allowed' }, host);
	}
	for (const name of Object.keys(answers)) {
		await assert.rejects(network.download(`https://${name}/`), { code: 'url_not_allowed' }, name);
	}
	for (const host of ['11.22.33.45', '[2a00:aa::8]']) network.checkUrl(`https://${host}/`);
	assert.deepEqual(canary.seen, []);
});

test('refuses a name with very many addresses, as fast as any other name', async () => {
	let asked = 0;
	const resolved: Record<string, number> = { 'few.example': 32, 'many.example': 33, 'very-many.example': 3_900 };
	await using canary = await startCanary();
	await using network = createNetwork({
		allowPrivateNetwork: false,
		interfaceAddresses: () => {
			asked++;
			return ['11.22.0.5'];
		},
		resolve: async (name) =>
			Array.from({ length: resolved[name] ?? 0 }, (_, at) => ({ address: `11.22.${at >> 8}.${at & 255}`, family: 4 })),
	});
	for (const name of Object.keys(resolved)) {
		asked = 0;
		await assert.rejects(network.download(`https://${name}/`), { code: 'url_not_allowed' }, name);
		assert.ok(asked <= 1, `${name}: the addresses of this machine were read ${asked} times`);
	}
	assert.deepEqual(canary.seen, []);
});

test('accepts up to 32 addresses of a name', async () => {
	await using server = await httpServer((_request, response) => response.end('here'));
	const addresses = (count: number) => Array.from({ length: count }, () => ({ address: '127.0.0.1', family: 4 }));
	const open = (allowPrivateNetwork: boolean) =>
		createNetwork({
			allowPrivateNetwork,
			isAddressAllowed: () => true,
			resolve: async (name) => addresses(name.startsWith('few') ? 32 : 33),
		});
	await using network = open(false);
	assert.equal(await textOf((await network.download(`http://few.example:${server.port}/`)).body), 'here');
	await assert.rejects(network.download(`http://many.example:${server.port}/`), { code: 'url_not_allowed' });
	await using intranet = open(true);
	const service = await intranet.download(`http://many.example:${server.port}/`);
	assert.equal(await textOf(service.body), 'here', 'a service of an intranet may run on many machines');
});

test("lists the addresses of this machine's interfaces", () => {
	const own = interfaceAddresses();
	assert.ok(own.includes('127.0.0.1'));
	for (const address of own) assert.ok(isIP(address) > 0 && !address.includes('%'), address);
	assert.equal(own.length, Object.values(networkInterfaces()).flat().length);
});

test("refuses the operator's refused networks, even if private networks are allowed", async () => {
	await using bird = await tcpServer((socket) => socket.destroy());
	const refusedNetworks = ['127.0.0.0/8', '2a00:64::/96', '11.22.0.0/16'];
	for (const allowPrivateNetwork of [true, false]) {
		await using network = createNetwork({
			allowPrivateNetwork,
			refusedNetworks,
			resolve: async (name) => [{ address: name === 'nat64.example' ? '2a00:64::7f00:1' : '127.0.0.1', family: 4 }],
		});
		for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '[2a00:64::7f00:1]', '11.22.3.4']) {
			assert.throws(() => network.checkUrl(`https://${host}:${bird.port}/`), { code: 'url_not_allowed' }, host);
		}
		for (const name of ['nat64.example', 'loopback.example']) {
			await assert.rejects(network.download(`https://${name}:${bird.port}/`), { code: 'url_not_allowed' }, name);
		}
		network.checkUrl('https://11.23.0.1/');
	}
	assert.equal(bird.connections, 0);
	assert.throws(() => createNetwork({ allowPrivateNetwork: false, refusedNetworks: ['10.0.0.0/99'] }), TypeError);
});

test('refuses the ports of mail, chat and file services', async () => {
	await using canary = await startCanary();
	for (const allowPrivateNetwork of [true, false]) {
		const options: SsrfGuardOptions = {
			allowPrivateNetwork,
			resolve: async () => [{ address: '127.0.0.1', family: 4 }],
		};
		await using network = createNetwork(options);
		const dispatcher = agentOf(options);
		for (const port of [0, 22, 25, 110, 143, 465, 587, 993, 2049, 6000, 6667, 10080]) {
			const url = `http://mail.example:${port}/`;
			assert.throws(() => network.checkUrl(url), { code: 'url_not_allowed', message: /^Port \d+ belongs/ }, url);
			await assert.rejects(async () => (await request(url, { dispatcher })).statusCode, { code: 'url_not_allowed' });
		}
		await dispatcher.destroy();
		for (const port of [80, 443, 3000, 8080, 8443, 65535]) network.checkUrl(`https://shop.example:${port}/`);
	}
	assert.deepEqual(canary.seen, []);
});

test('allows URLs of the public internet unchanged', () => {
	const network = createNetwork({ allowPrivateNetwork: false });
	for (const url of [
		'https://example.com/',
		'http://example.com:8080/a%20b?c=d#e',
		'https://bücher.example/',
		'https://8.8.8.8/',
		'https://[2606:4700:4700::1111]/',
		'https://localhost.example.com/',
		'https://internal-docs.example/',
	]) {
		assert.equal(network.checkUrl(url).href, new URL(url).href);
	}
});

test('still allows a URL with letters of Latin-1 after many checks', () => {
	const network = createNetwork({ allowPrivateNetwork: false });
	// V8 optimizes the check on the way.
	for (let at = 0; at < 20_000; at++) network.checkUrl('https://bücher.example/');
});

test('refuses http if only https is allowed', () => {
	const network = createNetwork({ allowPrivateNetwork: false });
	assert.throws(() => network.checkUrl('http://example.com/', { httpsOnly: true }), /Only https/);
	assert.equal(network.checkUrl('https://example.com/', { httpsOnly: true }).protocol, 'https:');
});

test('disables only the address and https rules if private networks are allowed', () => {
	const network = createNetwork({ allowPrivateNetwork: true });
	for (const url of [
		'http://127.0.0.1:8080/',
		'http://localhost/',
		'http://ollama:11434/',
		'http://[::1]/',
		'http://10.0.0.1/',
	]) {
		assert.equal(network.checkUrl(url, { httpsOnly: true }).href, url);
	}
	for (const url of [
		'ftp://127.0.0.1/',
		'http://user@127.0.0.1/',
		'file:///etc/passwd',
		`http://10.0.0.1/${'x'.repeat(9_000)}`,
	]) {
		assert.throws(() => network.checkUrl(url), { code: 'url_not_allowed' });
	}
});

test('gives the reason of a refusal in a sentence, without the addresses of a name', async () => {
	await using network = createNetwork({ allowPrivateNetwork: false, resolve: resolveHostile });
	await assert.rejects(network.download('http://intranet.example/'), (thrown) => {
		assert.ok(thrown instanceof AppError);
		assert.match(thrown.message, /^The host intranet\.example is not on the public internet/);
		assert.doesNotMatch(thrown.message, /10\.1/);
		return true;
	});
});

test('gives the same error for an internal name and a name that does not exist', async () => {
	const lost = ['ENOTFOUND', 'EAI_AGAIN', 'ESERVFAIL'];
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async (name) => {
			const code = lost.find((one) => name === `${one.toLowerCase().replace('_', '-')}.example`);
			if (code !== undefined) throw Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code });
			return resolveHostile(name);
		},
	});
	const post = { headers: {}, body: '', timeoutMs: 20_000, maxBodyBytes: 100 };
	const told = async (name: string) => {
		const { status, error } = await network.post(`https://${name}/`, post);
		const thrown = await network.download(`https://${name}/`).then(
			() => assert.fail(name),
			(error: AppError) => error,
		);
		return [status, error, thrown.code, thrown.message].map((part) => String(part).replaceAll(name, 'NAME'));
	};
	const within = await told('intranet.example');
	assert.match(within[1] ?? '', /^The host NAME is not on the public internet, or its name cannot be resolved/);
	for (const name of [
		'mixed.example',
		'nowhere.example',
		'enotfound.example',
		'eai-again.example',
		'eservfail.example',
	]) {
		assert.deepEqual(await told(name), within, name);
	}
});

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
	let text = '';
	for await (const chunk of body) text += chunk;
	return text;
}
