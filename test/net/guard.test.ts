import assert from 'node:assert/strict';
import { test } from 'node:test';
import { request } from 'undici';
import { AppError } from '../../src/base/index.ts';
import { createNetwork, type ResolvedAddress } from '../../src/net/index.ts';
import { httpServer, type TestServer, tcpServer } from './servers.ts';

/** Every spelling leads, or would lead a careless client, to this machine or its network. `P` is the canary's port. */
const HOSTILE = `
http://127.0.0.1:P/ http://127.0.0.1:P/file.pdf https://127.0.0.1:P/ http://127.1:P/ http://127.0.1:P/ http://0:P/ http://0.0.0.0:P/
http://2130706433:P/ http://0x7f000001:P/ http://0x7f.1:P/ http://0x7f.0.0.1:P/ http://0177.0.0.1:P/ http://017700000001:P/
http://0x7F.0X0.0x0.0x1:P/ http://00000177.0.0.1:P/ http://127.0.0.1.:P/ http://127.255.255.254:P/ http://127.0.0.2:P/
http://%31%32%37.0.0.1:P/ http://127%2e0%2e0%2e1:P/ http://①②⑦.⓪.⓪.①:P/ http://127。0。0。1:P/ http://１２７.0.0.1:P/
http://[::1]:P/ http://[0:0:0:0:0:0:0:1]:P/ http://[0000::0001]:P/ http://[::]:P/ http://[::ffff:127.0.0.1]:P/
http://[::ffff:7f00:1]:P/ http://[0:0:0:0:0:ffff:127.0.0.1]:P/ http://[::127.0.0.1]:P/ http://[::ffff:0:127.0.0.1]:P/
http://[64:ff9b::127.0.0.1]:P/ http://[64:ff9b:1::7f00:1]:P/ http://[2002:7f00:1::]:P/ http://[2001:0:7f00:1::]:P/
http://[fe80::1]:P/ http://[fe80::1%25lo]:P/ http://[fc00::1]:P/ http://[fd00:ec2::254]:P/ http://[ff02::1]:P/ http://[fec0::1]:P/
http://10.0.0.1:P/ http://172.16.0.1:P/ http://192.168.0.1:P/ http://169.254.169.254/latest/meta-data/ http://2852039166/
http://0xa9fea9fe/ http://0251.0376.0251.0376/ http://100.64.0.1/ http://198.18.0.1/ http://224.0.0.1/ http://255.255.255.255/
http://192.0.2.1/ http://localhost:P/ https://localhost:P/ http://LOCALHOST:P/ http://localhost.:P/ http://foo.localhost:P/
http://foo.bar.localhost.:P/ http://localhost.localdomain:P/ http://ｌｏｃａｌｈｏｓｔ:P/ http://loc\u00adalhost:P/
http://printer.local/ http://metadata.google.internal/ http://router.home.arpa/
http://user@127.0.0.1:P/ http://example.com@127.0.0.1:P/ http://127.0.0.1:P@example.com/ http://user:secret@example.com/
http://example.com:80@127.0.0.1:P/ http:\\\\127.0.0.1:P\\ http:127.0.0.1:P/ http:/127.0.0.1:P/ http:////127.0.0.1:P/
ftp://127.0.0.1:P/ file:///etc/passwd gopher://127.0.0.1:P/_GET ws://127.0.0.1:P/ data:text/plain,hello javascript:alert(1)
blob:http://127.0.0.1:P/1 dict://127.0.0.1:P/ ldap://127.0.0.1:P/ unix:/var/run/docker.sock //127.0.0.1:P/ 127.0.0.1:P /etc/passwd
http:// http://[::1 http://[127.0.0.1]:P/ http://127.0.0.1:99999/ http://256.256.256.256/ http://1.2.3.4.5/ http://exa\u0000mple.com/`;

/** Names that the script of the test resolves, and to what. */
const NAMES: Record<string, string[]> = {
	'loopback.example': ['127.0.0.1'],
	'loopback6.example': ['::1'],
	'mapped.example': ['::ffff:127.0.0.1'],
	'metadata.example': ['169.254.169.254'],
	'intranet.example': ['10.1.2.3'],
	'mixed.example': ['93.184.216.34', '127.0.0.1'],
	'mixed-last.example': ['127.0.0.1', '2606:4700::1'],
	'scripted.example': ['not an address'],
};

const scripted = async (hostname: string): Promise<ResolvedAddress[]> =>
	(NAMES[hostname] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

/** Listens on every loopback address of this machine, at one port. */
async function canaries(): Promise<TestServer[]> {
	const first = await tcpServer((socket) => socket.destroy());
	const others = await Promise.allSettled(
		['127.0.0.2', '::1'].map((host) => tcpServer((socket) => socket.destroy(), host, first.port)),
	);
	return [first, ...others.flatMap((other) => (other.status === 'fulfilled' ? [other.value] : []))];
}

test('no spelling of a hostile URL, and no name of a private address, opens a connection', async () => {
	const birds = await canaries();
	await using network = createNetwork({ allowPrivateNetwork: false, resolve: scripted });
	const port = String(birds[0]!.port);
	const urls = HOSTILE.trim().split(/\s+/);
	assert.ok(urls.length >= 60);
	for (const hostile of urls) {
		const url = hostile.replace('P', port);
		assert.throws(() => network.checkUrl(url), { name: 'AppError', code: 'url_not_allowed' }, url);
		await assert.rejects(network.download(url), { name: 'AppError', code: 'url_not_allowed' }, url);
		// The dispatcher guards itself, also for users who forget to check.
		await assert.rejects(async () => (await request(url, { dispatcher: network.dispatcher })).statusCode, Error, url);
	}
	for (const name of Object.keys(NAMES)) {
		const url = `http://${name}:${port}/`;
		assert.equal(network.checkUrl(url).hostname, name);
		await assert.rejects(network.download(url), { name: 'AppError', code: 'url_not_allowed' }, url);
		await assert.rejects(request(url, { dispatcher: network.dispatcher }), { code: 'url_not_allowed' }, url);
	}
	for (const bird of birds) {
		assert.equal(bird.connections, 0);
		await bird[Symbol.asyncDispose]();
	}
});

test('a name that was good when it was judged and bad a moment later cannot win', async (t) => {
	let trap: TestServer;
	await using good = await httpServer((_request, response) => {
		response.setHeader('connection', 'close').end('good');
	});
	try {
		trap = await tcpServer((socket) => socket.destroy(), '127.0.0.2', good.port);
	} catch {
		t.skip('needs the loopback address 127.0.0.2, which this system does not have');
		return;
	}
	const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.2'];
	let asked = 0;
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async () => [{ address: answers[asked++]!, family: 4 }],
		judge: (address) => address === '127.0.0.1',
	});
	const url = `http://rebinding.example:${good.port}/`;
	const first = await network.download(url);
	assert.equal(await textOf(first.body), 'good');
	assert.equal(asked, 1, 'the name is resolved once, and the connection goes to what was judged');
	await assert.rejects(network.download(url), { code: 'url_not_allowed' });
	assert.equal(asked, 2);
	assert.equal(trap.connections, 0);
	await trap[Symbol.asyncDispose]();
});

test('the judged address is connected to, but TLS and the Host header still speak of the name', async () => {
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
		judge: (address) => address === '127.0.0.1',
	});
	await assert.rejects(network.download(`https://pinned.example:${tls.port}/`), { code: 'unreadable_file' });
	assert.match(hello, /pinned\.example/);
	await using _file = await network.download(`http://pinned.example:${plain.port}/`);
	assert.equal(host, `pinned.example:${plain.port}`);
});

test('URLs of the public internet are allowed as they are', () => {
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

test('where only https is wanted, http is refused', () => {
	const network = createNetwork({ allowPrivateNetwork: false });
	assert.throws(() => network.checkUrl('http://example.com/', { httpsOnly: true }), /Only https/);
	assert.equal(network.checkUrl('https://example.com/', { httpsOnly: true }).protocol, 'https:');
});

test('an intranet setting lifts the address and https rules, and no other', () => {
	const network = createNetwork({ allowPrivateNetwork: true });
	for (const url of ['http://127.0.0.1:1/', 'http://localhost/', 'http://[::1]/', 'http://10.0.0.1/']) {
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

test('a refusal says why in a sentence, and does not tell what a name resolves to', async () => {
	await using network = createNetwork({ allowPrivateNetwork: false, resolve: scripted });
	await assert.rejects(network.download('http://intranet.example/'), (thrown) => {
		assert.ok(thrown instanceof AppError);
		assert.match(thrown.message, /^The host intranet\.example is not on the public internet/);
		assert.doesNotMatch(thrown.message, /10\.1/);
		return true;
	});
});

test('a name within is not told apart from one that does not exist', async () => {
	const lost = ['ENOTFOUND', 'EAI_AGAIN', 'ESERVFAIL'];
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async (name) => {
			const code = lost.find((one) => name === `${one.toLowerCase().replace('_', '-')}.example`);
			if (code !== undefined) throw Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code });
			return scripted(name);
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
