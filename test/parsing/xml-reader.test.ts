import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readXml } from '../../src/parsing/xml-reader.ts';

test('many elements in great depth are refused', () => {
	const read = (depth: number, count: number) => {
		let elements = 0;
		const xml = `${'<a>'.repeat(depth)}${'<b/>'.repeat(count)}${'</a>'.repeat(depth)}`;
		readXml(Buffer.from(xml), { open: () => elements++, close: () => {}, text: () => {} }, 'file');
		return elements;
	};
	assert.equal(read(100, 50_000), 50_100);
	assert.equal(read(1900, 100), 2000);
	assert.throws(() => read(1900, 50_000), { code: 'resource_limit' });
});
