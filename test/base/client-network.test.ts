import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clientNetwork } from '../../src/base/index.ts';

test('an IPv4 address is its own network, also when mapped to IPv6', () => {
	assert.equal(clientNetwork('192.0.2.7'), '192.0.2.7');
	assert.equal(clientNetwork('::ffff:192.0.2.7'), '192.0.2.7');
	assert.equal(clientNetwork('::ffff:c000:207'), '192.0.2.7');
});

test('the network of an IPv6 address is its /64, however it is written', () => {
	for (const address of ['2001:db8:1:2::', '2001:db8:1:2::1', '2001:DB8:1:2:a:b:c:d', '2001:0db8:0001:0002:0:0:0:9']) {
		assert.equal(clientNetwork(address), '2001:db8:1:2::/64', address);
	}
	assert.equal(clientNetwork('2001:db8::1'), '2001:db8:0:0::/64');
	assert.equal(clientNetwork('::1'), '0:0:0:0::/64');
	assert.equal(clientNetwork('fe80::1%eth0'), 'fe80:0:0:0::/64');
});

test('a text that is no address is its own network', () => {
	for (const text of ['', 'unknown', ':', 'a:b']) assert.equal(clientNetwork(text), text);
});

test('two IPv6 addresses have the same network exactly when their first four groups are equal', () => {
	const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
	const half = fc.tuple(group, group, group, group).map((groups) => groups.join(':'));
	fc.assert(
		fc.property(half, half, half, half, (line, other, host, guest) => {
			assert.equal(clientNetwork(`${line}:${host}`), clientNetwork(`${line}:${guest}`));
			assert.equal(clientNetwork(`${line}:${host}`) === clientNetwork(`${other}:${host}`), line === other);
		}),
	);
});
