import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress } from '../../src/http/client-address.ts';
import { createClientAddress } from '../../src/http/index.ts';

test('trusts X-Forwarded-For from trusted proxies only', () => {
	const withoutProxies = createClientAddress([]);
	assert.equal(
		withoutProxies(() => '10.0.0.1', '1.2.3.4'),
		'10.0.0.1',
	);
	const some = createClientAddress(['10.0.0.0/8']);
	assert.equal(
		some(() => '192.0.2.1', '1.2.3.4'),
		'192.0.2.1',
	);
	assert.equal(
		some(() => '', '1.2.3.4'),
		'',
	);
});

test('uses the last address that a trusted proxy saw; entries further left may be forged', () => {
	const address = createClientAddress(['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']);
	assert.equal(
		address(() => '10.0.0.1', undefined),
		'10.0.0.1',
	);
	assert.equal(
		address(() => '10.0.0.1', '1.2.3.4'),
		'1.2.3.4',
	);
	assert.equal(
		address(() => '10.0.0.1', '6.6.6.6, 1.2.3.4'),
		'1.2.3.4',
	);
	assert.equal(
		address(() => '10.0.0.1', '6.6.6.6,1.2.3.4 , 10.9.9.9,192.0.2.7'),
		'1.2.3.4',
	);
	assert.equal(
		address(() => '2001:db8::1', '2a00::0:1'),
		'2a00::1',
	);
	assert.equal(
		address(() => '10.0.0.1', '10.0.0.2'),
		'10.0.0.2',
		'a client inside the trusted network',
	);
});

test('reads entries with ports, mapped IPv4 addresses and entries that are not addresses', () => {
	const address = createClientAddress(['::ffff:10.0.0.0/104']);
	assert.equal(
		address(() => '10.0.0.1', '1.2.3.4:5678'),
		'1.2.3.4',
	);
	assert.equal(
		address(() => '10.0.0.1', '[2a00::1]:443'),
		'2a00::1',
	);
	assert.equal(
		address(() => '10.0.0.1', '::ffff:1.2.3.4'),
		'1.2.3.4',
	);
	assert.equal(
		address(() => '10.0.0.1', '1.2.3.4, unknown'),
		'',
		'not the address of the proxy',
	);
	assert.equal(
		address(() => '10.0.0.1', '1.2.3.4, unknown, 10.0.0.5'),
		'',
	);
	assert.equal(
		address(() => '10.0.0.1', ''),
		'10.0.0.1',
	);
});

test('trusts a network from its first address to its last', () => {
	const address = createClientAddress(['192.0.2.77/28', '203.0.113.9', '0.0.0.0/32']);
	assert.equal(
		address(() => '192.0.2.63', '1.2.3.4'),
		'192.0.2.63',
	);
	assert.equal(
		address(() => '192.0.2.64', '1.2.3.4'),
		'1.2.3.4',
	);
	assert.equal(
		address(() => '192.0.2.79', '1.2.3.4'),
		'1.2.3.4',
	);
	assert.equal(
		address(() => '192.0.2.80', '1.2.3.4'),
		'192.0.2.80',
	);
	assert.equal(
		address(() => '203.0.113.9', '255.255.255.255'),
		'255.255.255.255',
	);
	assert.equal(
		address(() => '0.0.0.0', '1.2.3.4'),
		'1.2.3.4',
	);
	assert.equal(
		createClientAddress(['0.0.0.0/0'])(() => '192.0.2.80', '255.0.0.1'),
		'255.0.0.1',
	);
});

test('gives one client one address, however the address is written', () => {
	const address = createClientAddress(['10.0.0.1']);
	const clientOf = (text: string) => address(() => '10.0.0.1', text);
	for (const same of ['1.2.3.8', ' 1.2.3.8 ', '01.2.3.010', '0x1.2.3.8', '16909064', '::ffff:1.2.3.8']) {
		assert.equal(clientOf(same), '1.2.3.8', same);
	}
	for (const none of ['1.2.3.256', '1.2.3.4.5', '1..3.4', '1.2.3.', '.1.2.3', 'a.b.c.d', '10.1.2.3%eth0', '1.2.3.4,']) {
		assert.equal(clientOf(none), '', none);
	}
});

test('names a wrong entry of the settings', () => {
	assert.throws(() => createClientAddress(['10.0.0.0/8', 'proxy.local']), /"proxy\.local" is neither/);
	assert.throws(() => createClientAddress(['10.0.0.0/40']), /"10\.0\.0\.0\/40" is neither/);
});

test('formats binary addresses in their usual form', () => {
	const bytes = (...values: number[]) => new Uint8Array(values).buffer;
	assert.equal(formatAddress(bytes(192, 0, 2, 1)), '192.0.2.1');
	assert.equal(formatAddress(bytes(192, 0, 2, 2)), '192.0.2.2');
	assert.equal(formatAddress(bytes(192, 0, 2, 1)), '192.0.2.1');
	assert.equal(formatAddress(bytes(255, 255, 255, 255)), '255.255.255.255');
	assert.equal(formatAddress(bytes(...Array(15).fill(0), 1)), '::1');
	assert.equal(formatAddress(bytes(...Array(10).fill(0), 255, 255, 192, 0, 2, 1)), '192.0.2.1');
	assert.equal(formatAddress(bytes()), '');
});

test('trusts every local peer when the server listens on loopback and trusts a loopback address', () => {
	const forwarded = '6.6.6.6, 1.2.3.4';
	const unasked = () => assert.fail('the peer was asked for');
	assert.equal(createClientAddress(['127.0.0.1'], '127.0.0.1')(unasked, forwarded), '1.2.3.4');
	assert.equal(createClientAddress(['::1'], '::1')(unasked, '2a00::1'), '2a00::1');
	const local = createClientAddress(['127.0.0.1', '10.0.0.0/8'], '127.0.0.1');
	assert.equal(local(unasked, '1.2.3.4, 10.0.0.7'), '1.2.3.4');
	assert.equal(
		local(() => '127.0.0.1', undefined),
		'127.0.0.1',
	);
	assert.equal(
		local(() => '127.0.0.1', 'unknown'),
		'',
	);
	assert.equal(
		local(() => '127.0.0.1', '1.2.3.4, unknown'),
		'',
	);
	assert.equal(
		local(() => '127.0.0.1', ''),
		'127.0.0.1',
	);
});

test('does not trust other peers on loopback or other addresses', () => {
	assert.equal(
		createClientAddress(['10.0.0.1'], '127.0.0.1')(() => '127.0.0.1', '1.2.3.4'),
		'127.0.0.1',
	);
	assert.equal(
		createClientAddress(['127.0.0.1'], '::1')(() => '::1', '1.2.3.4'),
		'::1',
	);
	for (const listensOn of ['0.0.0.0', '::', '192.0.2.1', 'localhost', undefined]) {
		const address = createClientAddress(['127.0.0.1'], listensOn);
		assert.equal(
			address(() => '192.0.2.9', '1.2.3.4'),
			'192.0.2.9',
			listensOn,
		);
		assert.equal(
			address(() => '127.0.0.1', '1.2.3.4'),
			'1.2.3.4',
			listensOn,
		);
	}
});
