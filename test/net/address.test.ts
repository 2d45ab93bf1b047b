import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress } from '../../src/net/index.ts';

const PUBLIC = `
8.8.8.8 1.1.1.1 93.184.216.34 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.0 100.63.255.255 100.128.0.0 169.253.255.255
169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001:81b::200e 2400:cb00:: ::ffff:8.8.8.8 ::ffff:808:808`;

const NOT_PUBLIC = `
0.0.0.0 0.1.2.3 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255 169.254.0.0
169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0
198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255
:: ::1 ::2 ::8.8.8.8 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:8.8.8.8
64:ff9b::8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:0:5ef5:79fd::1 2001:2::1 2001:10::1 2001:20::1
2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1 4000::1 5f00::1 fc00::1 fd12:3456:789a::1 fe80::1 fe80::1%eth0 febf::1 fec0::1
ff02::1 ffff::1`;

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

test('an address of the public internet is public', () => {
	for (const address of words(PUBLIC)) assert.equal(isPublicAddress(address), true, address);
});

test('an address of any special block is not public, however it is wrapped', () => {
	for (const address of words(NOT_PUBLIC)) assert.equal(isPublicAddress(address), false, address);
});

test('what is not an address in its plain form is not public', () => {
	for (const text of NO_ADDRESS) assert.equal(isPublicAddress(text), false, text);
});
