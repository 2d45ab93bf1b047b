import assert from 'node:assert/strict';
import test from 'node:test';
import { canonicalUrl } from '../../../src/knowledge/sources/canonical-url.ts';

const BASE = 'https://shop.example/help/returns.html';

test('forms of one address have one canonical form', () => {
	const forms: Array<[link: string, canonical: string]> = [
		['https://SHOP.example/a', 'https://shop.example/a'],
		['https://shop.example:443/a', 'https://shop.example/a'],
		['http://shop.example:80/a', 'http://shop.example/a'],
		['https://shop.example./a', 'https://shop.example/a'],
		['https://shop.example', 'https://shop.example/'],
		['/a#top', 'https://shop.example/a'],
		['../a/./b/../c', 'https://shop.example/a/c'],
		['?page=2', 'https://shop.example/help/returns.html?page=2'],
		['//shop.example/a', 'https://shop.example/a'],
		['/a?utm_source=mail&utm_medium=x', 'https://shop.example/a'],
		['/a?b=1&gclid=xyz&c=2', 'https://shop.example/a?b=1&c=2'],
		['/a?', 'https://shop.example/a'],
		['/a?fbclid=1#x', 'https://shop.example/a'],
		['/a;jsessionid=0A1B?b=1', 'https://shop.example/a?b=1'],
		['/index.html', 'https://shop.example/'],
		['/help/index.php', 'https://shop.example/help/'],
		['/help/Default.aspx', 'https://shop.example/help/'],
		['/index.php?page=2', 'https://shop.example/index.php?page=2'],
		['/%7Eann/caf%c3%a9', 'https://shop.example/~ann/caf%C3%A9'],
		['/café', 'https://shop.example/caf%C3%A9'],
		['https://bücher.example/', 'https://xn--bcher-kva.example/'],
		['/a?b=%7e', 'https://shop.example/a?b=~'],
	];
	for (const [link, canonical] of forms) {
		assert.equal(canonicalUrl(link, BASE)?.url, canonical, link);
		assert.equal(canonicalUrl(canonical)?.url, canonical, `${canonical} is canonical`);
	}
});

test('requests the address that was linked, because a server may not know the canonical form', () => {
	assert.equal(canonicalUrl('/help/index.html?utm_source=a#b', BASE)?.fetchUrl, 'https://shop.example/help/index.html');
});

test('a link that leads to no page has no canonical form', () => {
	for (const link of [
		'mailto:ann@shop.example',
		'tel:0800555',
		'javascript:void(0)',
		'data:text/html,hello',
		'ftp://shop.example/a',
		'https://ann:secret@shop.example/',
		'http://',
		'https://shop.example:99999/',
		`/${'a'.repeat(2_000)}`,
	]) {
		assert.equal(canonicalUrl(link, BASE), null, link);
	}
	assert.equal(canonicalUrl('/a'), null, 'a relative link needs a base');
});
