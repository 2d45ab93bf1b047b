import assert from 'node:assert/strict';
import test from 'node:test';
import { isInScope, isWorthFetching, matchesPattern } from '../../../src/knowledge/sources/scope.ts';

const url = new URL('https://shop.example/help/returns?lang=de');

test('a pattern matches the whole path and query, or the whole address', () => {
	const matching = [
		'/help/*',
		'*',
		'/help/returns?lang=de',
		'*lang=de',
		'/*/returns*',
		'https://shop.example/*',
		'/h*p/*=*e',
	];
	const others = [
		'/help',
		'/help/returns',
		'help/*',
		'/Help/*',
		'/help/*/x',
		'https://other.example/*',
		'/help/returns?lang=de*e',
		'',
	];
	for (const pattern of matching) assert.ok(matchesPattern(pattern, url), pattern);
	for (const pattern of others) assert.ok(!matchesPattern(pattern, url), pattern);
});

test('the parts of a pattern match in their order and do not overlap', () => {
	const text = new URL('https://shop.example/aba');
	assert.ok(matchesPattern('/a*a', text));
	assert.ok(!matchesPattern('/ab*ba', text));
	assert.ok(!matchesPattern('/*b*b*', text));
});

test('excluded pages win over included ones, and pages of other hosts are outside', () => {
	const source = { hosts: ['shop.example'], include: ['/help/*'], exclude: ['*/print/*'] };
	assert.ok(isInScope(source, 'https://shop.example/help/a'));
	assert.ok(isInScope(source, 'https://www.shop.example/help/a'), 'www. is the same site');
	for (const outside of [
		'https://shop.example/about',
		'https://shop.example/help/print/a',
		'https://blog.shop.example/help/a',
		'https://shop.example.evil.example/help/a',
		'https://shop.example:8443/help/a',
	]) {
		assert.ok(!isInScope(source, outside), outside);
	}
	assert.ok(isInScope({ ...source, include: [] }, 'https://shop.example/about'), 'no pattern includes all');
});

test('images, styles and addresses that repeat themselves are not fetched', () => {
	for (const link of [
		'/logo.PNG',
		'/app.js',
		'/a.css?v=2',
		'/film.mp4',
		'/all.zip',
		`/${'x/y/'.repeat(5)}`,
		`/${'a/b/c/d/'.repeat(7)}`,
	]) {
		assert.ok(!isWorthFetching(`https://shop.example${link}`), link);
	}
	for (const link of ['/', '/a.html', '/manual.pdf', '/prices.xlsx', '/a.b/c', '/2026/11/22']) {
		assert.ok(isWorthFetching(`https://shop.example${link}`), link);
	}
});
