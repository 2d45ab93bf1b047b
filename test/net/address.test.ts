import assert from 'node:assert/strict';
import { test } from 'node:test';
import ipaddr from 'ipaddr.js';
import { CidrBlockList, isPublicAddress, isSameAddress } from '../../src/net/address.ts';

const PUBLIC = `
8.8.8.8 1.1.1.1 93.184.216.34 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.0 100.63.255.255 100.128.0.0 169.253.255.255
169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0
192.175.47.255 192.175.49.0 192.0.1.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 168.63.129.15 168.63.129.17
2606:4700:4700::1111 2001:200:: 2001:db7:ffff:: 2001:db9:: 2001:4860:4860::8888 2a00:1450:4001:81b::200e 2400:cb00:: ::ffff:8.8.8.8 ::ffff:808:808`;

const NOT_PUBLIC = `
0.0.0.0 0.1.2.3 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255 169.254.0.0
169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0
198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255
:: ::1 ::2 ::8.8.8.8 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:8.8.8.8
64:ff9b::8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:0:5ef5:79fd::1 2001:2::1 2001:10::1 2001:20::1
2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1 4000::1 5f00::1 fc00::1 fd12:3456:789a::1 fe80::1 fe80::1%eth0 febf::1 fec0::1
ff02::1 ffff::1
192.0.0.0 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.171 192.0.0.192 192.0.0.255 192.31.196.1 192.52.193.1 192.88.99.2 192.175.48.1
168.63.129.16 ::ffff:168.63.129.16 100::ffff:ffff:ffff:ffff 100:0:0:1:ffff:: 2001:1::1 2001:1::2 2001:1::3 2001:3::1 2001:4:112::1
2001:30::1 2001:1ff:ffff:ffff:: 2620:4f:8000::1 2002:ffff:ffff:: 3fff:fff:ffff:: 5f00:ffff:: 64:ff9b::8.8.8.8 64:ff9b:1:808:8:800::
3ffe::5efe:8.8.8.8 3ffe::200:5efe:10.0.0.1 3ffe:1:2:3:0:5efe:7f00:1 2001:0:4136:e378:8000:63bf:3fff:fdd2 e000::1 ff0e::1`;

const NO_ADDRESS = [
	'',
	'example.com',
	'8.8.8',
	'134744072',
	'0x8080808',
	'010.8.8.8',
	'8.8.8.8 ',
	'[2606:4700::1]',
	'8.8.8.8%1',
];

const words = (table: string) => table.trim().split(/\s+/);

test('accepts public addresses', () => {
	for (const address of words(PUBLIC)) assert.equal(isPublicAddress(address), true, address);
});

test('rejects addresses of every special block, in every embedding', () => {
	for (const address of words(NOT_PUBLIC)) assert.equal(isPublicAddress(address), false, address);
});

test('rejects texts that are not addresses in plain form', () => {
	for (const text of NO_ADDRESS) assert.equal(isPublicAddress(text), false, text);
});

// The registries of special-purpose addresses (RFC 6890) as of 2025: the first and the last address of each block.
const SPECIAL = `
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24
192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
::1/128 ::/128 ::ffff:0:0/104 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:2::/48 2001:3::/32
2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7
fe80::/10 fec0::/10 ff00::/8`;

test('rejects the first and the last address of every block of the registries', () => {
	for (const block of words(SPECIAL)) {
		const bits = Number(block.split('/')[1]);
		const first = ipaddr.parse(block.split('/')[0]!);
		const bytes = first.toByteArray();
		const last = ipaddr.fromByteArray(
			bytes.map((byte, index) => byte | (0xff >> Math.min(8, Math.max(0, bits - index * 8)))),
		);
		for (const address of [first.toString(), last.toString()]) {
			assert.equal(isPublicAddress(address), false, `${address} of ${block}`);
		}
	}
});

test('finds an address in a block in every spelling', () => {
	const blocks = new CidrBlockList(['11.1.0.0/16', '12.0.0.1', '2a00:1:2:3::/96', '::ffff:13.0.0.0/104']);
	for (const address of [
		'11.1.2.3',
		'::ffff:11.1.2.3',
		'::ffff:b01:203',
		'12.0.0.1',
		'2A00:1:2:3::7f00:1',
		'13.255.0.1',
	]) {
		assert.equal(blocks.has(address), true, address);
	}
	for (const address of [
		'11.2.0.0',
		'12.0.0.2',
		'2a00:1:2:3:0:1::',
		'14.0.0.0',
		'::11.1.2.3',
		'2a00:1:2:3::1%lo',
		'a.example',
	]) {
		assert.equal(blocks.has(address), false, address);
	}
	for (const text of [
		'',
		'11.1.0.0/33',
		'11.1.0.0/-1',
		'11.1.0.0/',
		'11.1.0.0/8/8',
		'11.1',
		'a.example',
		'::ffff:11.1.0.0/95',
	]) {
		assert.throws(() => new CidrBlockList([text]), TypeError, text);
	}
	assert.equal(isSameAddress('::ffff:11.1.2.3', '11.1.2.3'), true);
	assert.equal(isSameAddress('2a00:0:0::1', '2A00::1'), true);
	assert.equal(isSameAddress('no address', 'no address'), false);
});
