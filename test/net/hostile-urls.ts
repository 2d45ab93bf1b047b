import { hostname } from 'node:os';
import { interfaceAddresses } from './canary.ts';

/** A URL that leads a client without checks to this machine, to its network, or to a server that is not a web server. */
export interface HostileUrl {
	url: string;
	/**
	 * When it is refused. `given`: its text is enough. `tried`: its name may be public until it is resolved.
	 */
	refused: 'given' | 'tried';
}

/** The URLs by technique. `P` is the port of the canary. */
const GIVEN: Record<string, string> = {
	'this machine, in plain words': `
		https://127.0.0.1:P/ http://127.0.0.1:P/ https://127.0.0.1:P/file.pdf https://127.0.0.2:P/ https://127.255.255.254:P/
		https://0.0.0.0:P/ https://0.1.2.3:P/ https://localhost:P/ https://LOCALHOST:P/ https://foo.localhost:P/
		https://localhost.localdomain:P/ https://[::1]:P/ https://[::]:P/ https://127.0.0.1/ https://localhost/ https://[::1]/`,
	'IPv4 in other bases, and with parts left out': `
		https://127.1:P/ https://127.0.1:P/ https://0:P/ https://2130706433:P/ https://0x7f000001:P/ https://0x7f.1:P/
		https://0x7f.0.0.1:P/ https://0177.0.0.1:P/ https://017700000001:P/ https://0x7F.0X0.0x0.0x1:P/ https://127.0x0.1:P/
		https://00000177.0.0.1:P/ https://127.000.000.001:P/ https://0x7f.0x1:P/ https://0x00000000000000007f000001:P/
		https://2852039166:P/ https://0xa9fea9fe:P/ https://0251.0376.0251.0376:P/ https://0300.0250.0.1:P/ https://10.1:P/`,
	'dots at the end': `
		https://127.0.0.1.:P/ https://localhost.:P/ https://localhost..:P/ https://foo.bar.localhost.:P/ https://2130706433.:P/
		https://metadata.google.internal.:P/`,
	'characters that become others': `
		https://１２７.0.0.1:P/ https://127。0。0。1:P/ https://１２７。０。０。１:P/ https://127．0．0．1:P/ https://127｡0｡0｡1:P/
		https://①②⑦.⓪.⓪.①:P/ https://𝟏𝟐𝟕.𝟎.𝟎.𝟏:P/ https://0ｘ7f.1:P/ https://ｌｏｃａｌｈｏｓｔ:P/ https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:P/
		https://loc\u00adalhost:P/ https://loc\u200balhost:P/ https://localho\u017ft:P/ https://metadata.google.ｉｎｔｅｒｎａｌ:P/`,
	'percent-encoded hosts': `
		https://%31%32%37.0.0.1:P/ https://127%2e0%2e0%2e1:P/ https://%6c%6f%63%61%6c%68%6f%73%74:P/ https://local%68ost:P/
		https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1:P/ https://127.0.0.1%00.example:P/ https://127.0.0.1%2f.example:P/
		https://127.0.0.1%09:P/ https://%5B::1%5D:P/`,
	'IPv6 in other spellings': `
		https://[0:0:0:0:0:0:0:1]:P/ https://[0000::0001]:P/ https://[0000:0000:0000:0000:0000:0000:0000:0001]:P/
		https://[::0.0.0.1]:P/ https://[0::1]:P/ https://[::1%25lo]:P/ https://[fe80::1%25lo]:P/ https://[fe80::1%251]:P/
		https://[::1%lo]:P/`,
	'IPv4 within IPv6': `
		https://[::ffff:127.0.0.1]:P/ https://[::ffff:7f00:1]:P/ https://[::FFFF:7F00:0001]:P/ https://[0:0:0:0:0:ffff:127.0.0.1]:P/
		https://[::ffff:0.0.0.0]:P/ https://[::ffff:169.254.169.254]:P/ https://[::ffff:10.0.0.1]:P/ https://[::127.0.0.1]:P/
		https://[::7f00:1]:P/ https://[::ffff:0:127.0.0.1]:P/ https://[::ffff:0:7f00:1]:P/ https://[64:ff9b::127.0.0.1]:P/
		https://[64:ff9b::a9fe:a9fe]:P/ https://[64:ff9b:1::127.0.0.1]:P/ https://[64:ff9b:1:7f00:0:100::]:P/
		https://[2002:7f00:1::]:P/ https://[2002:7f00:1::1]:P/ https://[2002:a9fe:a9fe::]:P/ https://[2001:0:7f00:1::]:P/
		https://[2001:0:c000:201:0:0:80ff:fffe]:P/ https://[fe80::5efe:127.0.0.1]:P/ https://[2001:db8::5efe:7f00:1]:P/
		https://[3ffe::5efe:10.0.0.1]:P/ https://[3ffe::200:5efe:10.0.0.1]:P/`,
	'networks of somebody’s own': `
		https://10.0.0.1:P/ https://10.255.255.255:P/ https://172.16.0.1:P/ https://172.31.255.254:P/ https://192.168.0.1:P/
		https://100.64.0.1:P/ https://169.254.0.1:P/ https://[fc00::1]:P/ https://[fd12:3456:789a::1]:P/ https://[fe80::1]:P/
		https://[febf::1]:P/ https://[fec0::1]:P/`,
	'blocks that are no website’s': `
		https://192.0.0.1:P/ https://192.0.0.9:P/ https://192.0.0.170:P/ https://192.0.2.1:P/ https://198.51.100.1:P/
		https://203.0.113.1:P/ https://198.18.0.1:P/ https://198.19.255.254:P/ https://224.0.0.1:P/ https://239.255.255.250:P/
		https://240.0.0.1:P/ https://255.255.255.255:P/ https://[100::1]:P/ https://[100:0:0:1::1]:P/ https://[2001:db8::1]:P/
		https://[2001:2::1]:P/ https://[2001:10::1]:P/ https://[2001:20::1]:P/ https://[2001:30::1]:P/ https://[3fff::1]:P/
		https://[5f00::1]:P/ https://[4000::1]:P/ https://[ff02::1]:P/ https://[ff0e::1]:P/`,
	'metadata services of clouds': `
		https://169.254.169.254/latest/meta-data/ http://169.254.169.254/computeMetadata/v1/ https://169.254.170.2/v2/credentials
		https://100.100.100.200/latest/meta-data/ https://192.0.0.192/opc/v2/ https://[fd00:ec2::254]/latest/meta-data/
		https://[fd20:ce::254]/ https://[fe80::a9fe:a9fe]/ https://metadata.google.internal:P/ https://metadata:P/
		https://metadata.goog:P/ https://METADATA.Azure.com:P/ https://instance-data.ec2.internal:P/ https://instance-data:P/
		https://metadata.tencentyun.com:P/ https://metadata.platformequinix.com:P/`,
	'names that are nobody’s on the internet': `
		https://printer.local:P/ https://router.home.arpa:P/ https://1.0.0.127.in-addr.arpa:P/ https://hidden.onion:P/
		https://shop.invalid:P/ https://db.alt:P/ https://intranet:P/ https://redis:P/ https://kubernetes:P/ https://a..example:P/
		https://-.example:P/ https://.example:P/`,
	'a user name before the host': `
		https://user@127.0.0.1:P/ https://shop.example@127.0.0.1:P/ https://127.0.0.1:P@shop.example/ https://shop.example:80@127.0.0.1:P/
		https://user:secret@shop.example/ https://:@127.0.0.1:P/ https://shop.example%40127.0.0.1:P/ https://:secret@shop.example/
		https://127.0.0.1:P#@shop.example/ https://127.0.0.1:P?@shop.example/`,
	'slashes the other way, too many, or none': `
		https:\\\\127.0.0.1:P\\ https:127.0.0.1:P/ https:/127.0.0.1:P/ https:////127.0.0.1:P/ https:\\/\\/127.0.0.1:P/
		https:///127.0.0.1:P/ https:/\\localhost:P/ https://127.0.0.1:P\\@shop.example/`,
	'ports of other services': `
		https://shop.example:0/ https://shop.example:22/ https://shop.example:25/ https://shop.example:110/ https://shop.example:465/
		https://shop.example:587/ https://shop.example:2049/ https://shop.example:6000/ https://shop.example:6667/
		https://shop.example:10080/ https://shop.example:0025/ https://shop.example:99999/ https://shop.example:-1/`,
	'other schemes': `
		ftp://127.0.0.1:P/ file:///etc/passwd file://127.0.0.1/etc/passwd gopher://127.0.0.1:P/_GET ws://127.0.0.1:P/ wss://127.0.0.1:P/
		data:text/plain,hello javascript:alert(1) blob:https://127.0.0.1:P/1 dict://127.0.0.1:P/ ldap://127.0.0.1:P/ sftp://127.0.0.1:P/
		tftp://127.0.0.1:P/ jar:https://127.0.0.1:P/!/ unix:/var/run/docker.sock about:blank view-source:https://127.0.0.1:P/
		http+unix://%2Fvar%2Frun%2Fdocker.sock/ netdoc:///etc/passwd`,
	'no URLs': `
		//127.0.0.1:P/ 127.0.0.1:P /etc/passwd https:// https://[::1 https://[127.0.0.1]:P/ https://256.256.256.256/ https://1.2.3.4.5/
		https://127.0.0.1:P:P/ https://[::ffff:127.0.0.1.]:P/ https://[::ffff:0x7f.1]:P/ https://[1::2::3]:P/ https://exa<mple.example/`,
};

/** URLs with characters that a parser drops. */
const CONTROLLED = [
	'https://127.0.0.1\t:P/',
	'https://127.0\n.0.1:P/',
	'ht\ntps://127.0.0.1:P/',
	'\thttps://127.0.0.1:P/',
	'https://127.0.0.1:P/\r\nHost: shop.example',
	'https://shop.example/\r\n\r\nGET /',
	'https://shop.example\u0000.127.0.0.1:P/',
	' https://127.0.0.1:P/ ',
	'https://local\thost:P/',
	'https://shop.example\n@127.0.0.1:P/',
];

/**
 * Names without a sign of their addresses, with the addresses. One of them, `3ffe::1`, would pass as public by its number.
 * Its block was returned to IANA and leads nowhere.
 */
export const NAMES: Record<string, readonly string[]> = {
	'loopback.example': ['127.0.0.1'],
	'loopback6.example': ['::1'],
	'both.example': ['127.0.0.1', '::1'],
	'nothing.example': ['0.0.0.0'],
	'nothing6.example': ['::'],
	'mapped.example': ['::ffff:127.0.0.1'],
	'mapped-hex.example': ['::ffff:7f00:1'],
	'compatible.example': ['::127.0.0.1'],
	'translated.example': ['64:ff9b::7f00:1'],
	'translated-here.example': ['64:ff9b:1::7f00:1'],
	'tunnelled.example': ['2002:7f00:1::'],
	'isatap.example': ['3ffe::5efe:7f00:1'],
	'metadata.example': ['169.254.169.254'],
	'metadata6.example': ['fd00:ec2::254'],
	'intranet.example': ['10.1.2.3'],
	'unique-local.example': ['fd00::1'],
	'link-local.example': ['fe80::1%lo'],
	'multicast.example': ['224.0.0.251'],
	'broadcast.example': ['255.255.255.255'],
	'mixed.example': ['3ffe::1', '127.0.0.1'],
	'mixed-last.example': ['127.0.0.1', '3ffe::1'],
	'mixed-many.example': ['3ffe::1', '3ffe::2', '::ffff:127.0.0.1', '3ffe::3'],
	'no-address.example': ['not an address'],
	'octal.example': ['0177.0.0.1'],
	'none.example': [],
	'127.0.0.1.wildcard.example': ['127.0.0.1'],
	'127-0-0-1.wildcard.example': ['127.0.0.1'],
	'7f000001.wildcard.example': ['127.0.0.1'],
	'localhost.example': ['127.0.0.1'],
	'_srv.example': ['127.0.0.1'],
	// Browsers show it as аррlе.example, with Cyrillic first letters.
	'xn--l-7sbaf1b.example': ['127.0.0.1'],
	'own.example': interfaceAddresses(),
};

/** The whole table for the port of a canary. */
export function hostileUrls(port: number): HostileUrl[] {
	const own = interfaceAddresses().map((address) => `https://${address.includes(':') ? `[${address}]` : address}:P/`);
	const given = [...Object.values(GIVEN).flatMap((urls) => urls.trim().split(/\s+/)), ...CONTROLLED, ...own];
	// A name without a dot, like the names of machines.
	const machine = hostname().includes('.') ? [] : [`https://${hostname()}:P/`];
	const names = Object.keys(NAMES).map((name) => `https://${name}:P/`);
	const row = (refused: HostileUrl['refused']) => (url: string) => ({
		url: url.replaceAll(/P(?=[/:@\\#?]|$|\r)/g, `${port}`),
		refused,
	});
	return [
		...[...given, ...machine].map(row('given')),
		...[
			...names,
			'https://LOOPBACK.example:P/',
			'https://loopback.example.:P/',
			'https://loopback.example:P#@127.0.0.1:P/',
			'https://lооpback.example:P/',
		].map(row('tried')),
	];
}

/** Resolves the names of the table. Other names do not exist. */
export async function resolveHostile(name: string): Promise<Array<{ address: string; family: number }>> {
	const addresses = NAMES[name.replace(/\.$/, '')];
	if (!addresses) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
	return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}
