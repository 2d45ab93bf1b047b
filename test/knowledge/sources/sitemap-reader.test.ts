import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { readSitemap } from '../../../src/knowledge/sources/sitemap-reader.ts';

async function* pieces(bytes: Buffer, size: number) {
	for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string | Buffer, { size = 1_000, maxPages = 100 } = {}) {
	const options = { address: 'https://shop.example/sitemap.xml', maxPages, maxSitemaps: 10, isWanted: () => true };
	const { pages, sitemaps } = await readSitemap(pieces(Buffer.from(text), size), options);
	return { pages: pages.map(({ url }) => url), sitemaps: sitemaps.map(({ url }) => url) };
}

const urlset = (...urls: string[]) =>
	`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i">${urls.map((url) => `<url><loc>${url}</loc><lastmod>2026</lastmod><image:image><image:loc>https://shop.example/i.png</image:loc></image:image></url>`).join('')}</urlset>`;

test('reads the pages of a sitemap, whatever the size of the pieces', async () => {
	const xml = urlset(
		' https://shop.example/a?b=1&amp;c=2 ',
		'<![CDATA[https://shop.example/d]]>',
		'https://shop.example/a?b=1&amp;c=2#x',
	);
	const expected = { pages: ['https://shop.example/a?b=1&c=2', 'https://shop.example/d'], sitemaps: [] };
	for (const size of [1, 7, 10_000]) assert.deepEqual(await read(xml, { size }), expected, `${size}`);
	assert.deepEqual(await read(gzipSync(xml), { size: 11 }), expected, 'compressed');
});

test('reads an index of sitemaps, and a list of addresses as text', async () => {
	const index =
		'<sitemapindex><sitemap><loc>https://shop.example/s1.xml.gz</loc></sitemap><sitemap><loc>/s2.xml</loc></sitemap></sitemapindex>';
	assert.deepEqual((await read(index)).sitemaps, ['https://shop.example/s1.xml.gz', 'https://shop.example/s2.xml']);
	assert.deepEqual((await read('\uFEFFhttps://shop.example/a\r\n\nhttps://shop.example/b', { size: 5 })).pages, [
		'https://shop.example/a',
		'https://shop.example/b',
	]);
});

test('keeps no more pages than wanted', async () => {
	const urls = Array.from({ length: 1_000 }, (_, at) => `https://shop.example/${at}`);
	assert.equal((await read(urlset(...urls), { maxPages: 30 })).pages.length, 30);
});

test('what is no sitemap, or a hostile one, is rejected with a sentence', async () => {
	const failures: Array<[content: string | Buffer, sentence: RegExp]> = [
		['<html><body>Hello</body></html>', /does not lead to a sitemap/],
		['', /does not lead to a sitemap/],
		['Hello', /does not lead to a sitemap/],
		[`<urlset>${'<a>'.repeat(1_000)}`, /does not lead to a sitemap/],
		[
			`<urlset ${Array.from({ length: 300 }, (_, at) => `x${at}="1"`).join(' ')}></urlset>`,
			/does not lead to a sitemap/,
		],
		[gzipSync(`<urlset>${' '.repeat(50_000_000)}`), /larger than 50 MB/],
		[
			Buffer.concat([gzipSync(urlset('https://shop.example/a')).subarray(0, 60), Buffer.from('broken')]),
			/not valid gzip/,
		],
	];
	for (const [content, sentence] of failures) {
		await assert.rejects(read(content, { size: 64 * 1024 }), (error: Error) => {
			assert.match(error.message, sentence);
			return true;
		});
	}
	const entities =
		'<!DOCTYPE u [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>https://shop.example/&b;</loc></url></urlset>';
	assert.ok(
		(await read(entities)).pages.every((url) => !url.includes('aaaa')),
		'entities of a document are not expanded',
	);
});
