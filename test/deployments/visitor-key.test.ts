import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visitorKey } from '../../src/deployments/index.ts';

test('the key of a subject is short, unique, and never that of an address', () => {
	const keys = ['ann', 'Ann', 'ann ', '', 'x'.repeat(100_000), '192.0.2.7', 'address 192.0.2.7'].map((subject) =>
		visitorKey(subject, '192.0.2.7'),
	);
	keys.push(visitorKey(null, '192.0.2.7'));
	assert.equal(new Set(keys).size, keys.length);
	for (const key of keys) assert.ok(key.length <= 60, key);
	assert.equal(visitorKey('ann', '192.0.2.7'), visitorKey('ann', '198.51.100.1'), 'wherever the person is');
});
