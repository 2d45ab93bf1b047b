import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNetwork, dnsResolver } from '../../src/net/index.ts';
import { startCanary } from './canary.ts';
import { type DnsServer, startDnsServer, type Zone } from './dns-server.ts';

const open = ({ address }: DnsServer) => createNetwork({ allowPrivateNetwork: false, resolve: dnsResolver([address]) });

test('resolves a name to its addresses of both families, through aliases', async () => {
	await using dns = await startDnsServer({
		'both.example': [{ a: '192.0.2.1' }, { a: '192.0.2.2' }, { aaaa: '2001:db8::1' }],
		'four.example': [{ a: '192.0.2.3' }],
		'six.example': [{ aaaa: '2001:db8::2' }],
		'alias.example': [{ cname: 'second.example' }],
		'second.example': [{ cname: 'both.example' }],
		'empty.example': [],
	});
	const resolve = dnsResolver([dns.address]);
	const found = async (name: string) => (await resolve(name)).map(({ address, family }) => `${address} ${family}`);
	const both = ['192.0.2.1 4', '192.0.2.2 4', '2001:db8::1 6'];
	assert.deepEqual(await found('both.example'), both);
	assert.deepEqual(await found('both.example.'), both);
	assert.deepEqual(await found('alias.example'), both);
	assert.deepEqual(await found('four.example'), ['192.0.2.3 4']);
	assert.deepEqual(await found('six.example'), ['2001:db8::2 6']);
	for (const name of ['empty.example', 'nowhere.example']) await assert.rejects(found(name), name);
});

test('connects to public addresses only, whatever the DNS returns', async () => {
	await using canary = await startCanary();
	const zone: Zone = {
		'a.example': [{ a: '127.0.0.1' }],
		'aaaa.example': [{ aaaa: '::1' }],
		'mapped.example': [{ aaaa: '0:0:0:0:0:ffff:7f00:1' }],
		'translated.example': [{ aaaa: '64:ff9b::7f00:1' }],
		'alias.example': [{ cname: 'a.example' }],
		'long-alias.example': [{ cname: 'alias.example' }],
		'alias-of-localhost.example': [{ cname: 'localhost' }],
		localhost: [{ a: '127.0.0.1' }, { aaaa: '::1' }],
		'mixed.example': [{ aaaa: '3ffe::1' }, { a: '127.0.0.1' }],
		'mixed-family.example': [{ aaaa: '3ffe::1' }, { aaaa: '::1' }],
		'many.example': Array.from({ length: 40 }, (_, index) =>
			index === 39 ? { aaaa: '::1' } : { aaaa: `3ffe::${index}` },
		),
		'empty.example': [],
		'unknown.example': 'unknown',
		'failure.example': 'failure',
		'loop.example': [],
	};
	await using dns = await startDnsServer(zone);
	await using network = open(dns);
	for (const name of Object.keys(zone)) {
		const url = `https://${name}:${canary.port}/`;
		const post = { headers: {}, body: '', timeoutMs: 20_000, maxBodyBytes: 100 };
		await assert.rejects(network.download(url), { code: 'url_not_allowed' }, name);
		await assert.rejects(network.fetch(url), { code: 'url_not_allowed' }, name);
		assert.match((await network.post(url, post)).error ?? '', /is not on the public internet/, name);
	}
	assert.ok(!dns.asked.some((question) => question.endsWith(' localhost')), 'which is judged without asking');
	assert.deepEqual(canary.seen, []);
});

test('resolves a name while the servers of other names never respond', async () => {
	const silent = Array.from({ length: 50 }, (_, index) => `silent-${index}.example`);
	await using dns = await startDnsServer({
		...Object.fromEntries(silent.map((name) => [name, 'silence' as const])),
		'quick.example': [{ a: '192.0.2.1' }],
	});
	const resolve = dnsResolver([dns.address]);
	let given = 0;
	const waiting = Promise.allSettled(
		silent.map((name) =>
			resolve(name).finally(() => {
				given++;
			}),
		),
	);
	assert.deepEqual(await resolve('quick.example'), [{ address: '192.0.2.1', family: 4 }]);
	assert.equal(given, 0, 'all of them are still being waited for');
	// Each lookup ends at its time limit.
	for (const { status } of await waiting) assert.equal(status, 'rejected');
});
