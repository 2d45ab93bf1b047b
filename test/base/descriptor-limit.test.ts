import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptorShares, readLimit } from '../../src/base/index.ts';

test('clients get what files, database and workers do not need of the descriptors', () => {
	const clients = (descriptors: number) => descriptorShares(descriptors).clients;
	assert.equal(clients(1024), 768);
	assert.equal(clients(200), 100);
	assert.equal(clients(1_048_576), 1_048_576 - 4096);
	assert.equal(clients(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
});

test('connections that the server opens for its clients take only a part of the reserve', () => {
	for (const descriptors of [1024, 2048, 4096, 16_384]) {
		const { clients, models, tools, deliveries, uploads } = descriptorShares(descriptors);
		const left = descriptors - clients - models - tools - deliveries - uploads;
		assert.ok(left >= (descriptors - clients) / 4, `${left} of ${descriptors}`);
	}
	assert.deepEqual(descriptorShares(1024), { clients: 768, models: 80, tools: 32, deliveries: 48, uploads: 24 });
	assert.ok(descriptorShares(524_288).models > 10_000);
	assert.equal(descriptorShares(Number.POSITIVE_INFINITY).tools, Number.POSITIVE_INFINITY);
});

test('the limit is read from the limits of the process', () => {
	const limits = [
		'Limit                     Soft Limit           Hard Limit           Units     ',
		'Max processes             7873                 7873                 processes ',
		'Max open files            1024                 4096                 files     ',
	];
	assert.equal(readLimit(limits.join('\n')), 1024);
	assert.equal(readLimit(limits.join('\n').replace('1024', 'unlimited')), Number.POSITIVE_INFINITY);
});
