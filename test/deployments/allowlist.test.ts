import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/index.ts';
import { createAllowlist } from '../../src/deployments/index.ts';

/** An entry, origins that it allows, and origins that it does not. */
const TABLE: Array<[entry: string, allowed: string[], refused: string[]]> = [
	[
		'example.com',
		['https://example.com', 'http://example.com'],
		[
			'https://www.example.com',
			'https://example.com:8443',
			'http://example.com:8080',
			'http://example.com:443',
			'https://example.com:80',
			'https://example.co',
			'https://example.com.evil.test',
			'https://evil-example.com',
			'https://evilexample.com',
			'https://example.org',
			'https://com',
			'https://example.com.',
			'ftp://example.com',
			'ws://example.com',
			'chrome-extension://example.com',
		],
	],
	['EXAMPLE.com', ['https://example.com'], ['https://example.org']],
	['example.com', ['HTTPS://EXAMPLE.COM', 'https://Example.Com'], ['HTTPS://EXAMPLE.ORG']],
	[
		'example.com:8443',
		['https://example.com:8443', 'http://example.com:8443'],
		['https://example.com', 'https://example.com:8444', 'https://example.com:84', 'https://www.example.com:8443'],
	],
	['example.com:443', ['https://example.com', 'http://example.com:443'], ['http://example.com']],
	['example.com:80', ['http://example.com', 'https://example.com:80'], ['https://example.com']],
	['example.com:0443', ['https://example.com'], ['https://example.com:4430']],
	[
		'example.com:*',
		['https://example.com', 'http://example.com', 'http://example.com:1', 'https://example.com:65535'],
		['https://www.example.com:8443', 'https://example.org:8443'],
	],
	[
		'*.example.com',
		['https://www.example.com', 'http://a.b.c.example.com', 'https://xn--bcher-kva.example.com'],
		[
			'https://example.com',
			'https://.example.com',
			'https://wwwexample.com',
			'https://www.example.com:8443',
			'https://www.example.com.evil.test',
			'https://example.com.evil.test',
			'https://www.example.com.',
		],
	],
	['*.example.com:8443', ['https://www.example.com:8443'], ['https://www.example.com', 'https://example.com:8443']],
	['*.example.com:*', ['https://www.example.com:1', 'http://www.example.com'], ['https://example.com:1']],
	['https://example.com', ['https://example.com'], ['http://example.com', 'https://example.com:8443']],
	['http://example.com', ['http://example.com'], ['https://example.com']],
	['HTTPS://Example.com', ['https://example.com'], ['http://example.com']],
	['https://*.example.com', ['https://www.example.com'], ['http://www.example.com', 'https://example.com']],
	['https://*.example.com:*', ['https://www.example.com:9'], ['http://www.example.com:9']],
	['https://example.com:8443', ['https://example.com:8443'], ['http://example.com:8443', 'https://example.com']],
	['http://example.com:443', ['http://example.com:443'], ['https://example.com']],
	[
		'localhost',
		['http://localhost', 'http://localhost:3000', 'https://localhost:8443'],
		['http://localhost.evil.test', 'http://evil.localhost', 'http://127.0.0.1:3000'],
	],
	['localhost:3000', ['http://localhost:3000'], ['http://localhost:3001', 'http://localhost']],
	['http://localhost', ['http://localhost:3000'], ['https://localhost:3000']],
	['*.localhost', ['http://shop.localhost'], ['http://shop.localhost:3000', 'http://localhost']],
	['127.0.0.1', ['http://127.0.0.1', 'http://127.0.0.1:5173'], ['http://127.0.0.2', 'http://localhost']],
	['127.0.0.1:80', ['http://127.0.0.1'], ['http://127.0.0.1:5173']],
	['192.0.2.7', ['http://192.0.2.7'], ['http://192.0.2.7:8080', 'http://192.0.2.70', 'http://192.0.2.7.evil.test']],
	['[::1]', ['http://[::1]'], ['http://[::1]:3000', 'http://[::2]', 'http://127.0.0.1']],
	['[2001:DB8:0:0:0:0:0:1]', ['https://[2001:db8::1]'], ['https://[2001:db8::2]']],
	['[2001:db8::1]:8443', ['https://[2001:db8::1]:8443'], ['https://[2001:db8::1]']],
	['bücher.example', ['https://xn--bcher-kva.example'], ['https://bucher.example']],
	['BÜCHER.example', ['https://xn--bcher-kva.example'], ['https://xn--bcher.example']],
	['*.bücher.example', ['https://shop.xn--bcher-kva.example'], ['https://xn--bcher-kva.example']],
	['xn--bcher-kva.example', ['https://xn--bcher-kva.example'], ['https://bucher.example']],
	['ｅｘａｍｐｌｅ.com', ['https://example.com'], ['https://example.org']],
	['my_shop.example.com', ['https://my_shop.example.com'], ['https://my-shop.example.com']],
	['intranet', ['http://intranet'], ['http://intranet.example.com', 'http://www.intranet']],
	['*', ['https://example.com', 'http://localhost:3000', 'https://[::1]:8443'], ['https://example.com.']],
];

for (const [entry, allowed, refused] of TABLE) {
	test(`an allowlist of ${entry} allows ${allowed[0]} and not ${refused[0]}`, () => {
		const allowlist = createAllowlist([entry]);
		// Twice, because the first result is cached.
		for (let time = 1; time <= 2; time++) {
			for (const origin of allowed) assert.equal(allowlist.allows(origin), true, `${entry} lets in ${origin}`);
			for (const origin of refused) assert.equal(allowlist.allows(origin), false, `${entry} refuses ${origin}`);
		}
	});
}

/** None of these is the origin of a web page. */
const HOSTILE = [
	'',
	' ',
	'null',
	'NULL',
	'undefined',
	'*',
	'example.com',
	'//example.com',
	'https:example.com',
	'https:/example.com',
	'https:///example.com',
	'https://example.com/',
	'https://example.com/path',
	'https://example.com?',
	'https://example.com#',
	'https://example.com:',
	'https://example.com:443',
	'https://example.com:99999',
	'https://example.com:abc',
	'https://user@example.com',
	'https://user:pass@example.com',
	'https://@example.com',
	'https://evil.test@example.com',
	'https://example.com@evil.test',
	'https://evil.test\\@example.com',
	'https://example.com\\.evil.test',
	'https://evil.test#example.com',
	'https://evil.test?.example.com',
	'https://evil.test/.example.com',
	'https://ex%61mple.com',
	'https://example%2ecom',
	'https://example。com',
	'https://example.com ',
	' https://example.com',
	'https://exam\tple.com',
	'https://example.com\n',
	'https://example.com\r\nX-Evil: 1',
	'https://example.com\0',
	'https://example.com, https://example.com',
	'https://example.com https://evil.test',
	'https://evil.test, https://example.com',
	'blob:https://example.com/1',
	'data:text/html,example.com',
	'javascript://example.com/%0aalert(1)',
	'file:///etc/passwd',
	'file://example.com',
	'about:blank',
	'__proto__',
	'constructor',
	'https://',
	'https://[::1',
	'https://[example.com]',
	'https://127.1',
	'https://0x7f000001',
	'https://2130706433',
	`https://${'a'.repeat(10_000)}@example.com`,
];

test('no list allows an origin that is not of a web page, not even *', () => {
	for (const entries of [['*'], ['example.com', '*.example.com:*', '127.0.0.1', '[::1]'], ['*', 'example.com:*']]) {
		const allowlist = createAllowlist(entries);
		for (const origin of HOSTILE) assert.equal(allowlist.allows(origin), false, JSON.stringify(origin.slice(0, 80)));
	}
});

test('an empty allowlist allows no origin', () => {
	const allowlist = createAllowlist([]);
	for (const origin of ['https://example.com', 'http://localhost', 'null', '']) {
		assert.equal(allowlist.allows(origin), false);
	}
});

test('one entry of several is enough', () => {
	const allowlist = createAllowlist(['example.org', '*.example.com', 'https://shop.example:8443']);
	assert.equal(allowlist.allows('https://www.example.com'), true);
	assert.equal(allowlist.allows('https://shop.example:8443'), true);
	assert.equal(allowlist.allows('https://example.com'), false);
});

test('rejects an entry that is not a host source, and the sentence repeats it', () => {
	const wrong = [
		'',
		' ',
		'**',
		'*.*',
		'*.',
		'*.*.example.com',
		'*example.com',
		'www.*.com',
		'example.*',
		'*:8443',
		'https://',
		'https://*',
		'ftp://example.com',
		'javascript:alert(1)',
		"'self'",
		'example.com/',
		'example.com/path',
		'https://example.com/',
		'example.com?a',
		'example.com#a',
		'example.com\\evil',
		'ex%61mple.com',
		'user@example.com',
		'example.com.',
		'.example.com',
		'*..example.com',
		'exam..ple.com',
		'example.com:',
		'example.com:0',
		'example.com:65536',
		'example.com:123456',
		'example.com:80-90',
		'example.com:-1',
		' example.com',
		'example.com ',
		'exam ple.com',
		'example.com\n',
		'example.com,example.org',
		'example.com;example.org',
		'example.com|example.org',
		'example.com!',
		'"example.com"',
		'exa\0mple.com',
		'[::1',
		'::1',
		'[]',
		'[g::1]',
		'*.[::1]',
		'999.1.1.1',
		'xn--a',
		'null, example.com',
	];
	for (const entry of wrong) {
		assert.throws(
			() => createAllowlist(['good.example', entry]),
			(error: unknown) => {
				assert.ok(error instanceof AppError, String(error));
				assert.equal(error.code, 'invalid_request');
				assert.ok(error.message.includes(`"${entry}"`), error.message);
				return true;
			},
			`${JSON.stringify(entry)} was taken`,
		);
	}
});

test('accepts or rejects any text as an entry and as an origin, without a crash', () => {
	const text = fc.oneof(
		fc.string({ unit: 'binary' }),
		fc.webUrl(),
		fc.domain(),
		fc.string({ unit: fc.constantFrom('*', '.', ':', '/', '[', ']', '@', 'a', '1', '-', '%', '\\') }),
	);
	fc.assert(
		fc.property(text, text, (entry, origin) => {
			try {
				assert.equal(typeof createAllowlist([entry]).allows(origin), 'boolean');
			} catch (error) {
				assert.ok(error instanceof AppError, String(error));
			}
		}),
		{ numRuns: 2_000 },
	);
});

test('a wildcard allows exactly the names that end in a dot and its name', () => {
	const name = fc.domain().filter((domain) => !domain.includes('xn--'));
	fc.assert(
		fc.property(name, name, fc.constantFrom('.', '', '-', 'a'), (domain, before, between) => {
			const allowlist = createAllowlist([`*.${domain}`]);
			const origin = `https://${before}${between}${domain}`.toLowerCase();
			assert.equal(allowlist.allows(origin), between === '.' || before.endsWith('.'), origin);
			const after = `https://${domain}.${before}`.toLowerCase();
			assert.equal(allowlist.allows(after), `.${before}`.toLowerCase().endsWith(`.${domain}`.toLowerCase()), after);
		}),
	);
});

test('a flood of unknown origins does not change what is allowed', () => {
	const allowlist = createAllowlist(['example.com', '*.example.com']);
	for (let index = 0; index < 5_000; index++) {
		assert.equal(allowlist.allows(`https://evil${index}.test`), false);
		assert.equal(allowlist.allows(`https://shop${index}.example.com`), true);
	}
	assert.equal(allowlist.allows('https://example.com'), true);
	assert.equal(allowlist.allows('https://shop1.example.com'), true);
	assert.equal(allowlist.allows('https://evil1.test'), false);
});
