import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/run-command.ts';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

test('a server whose database another one has taken over says so, refuses the change, and ends with 1', async (t) => {
	const dataDir = await temporaryFolder(t);
	const first = await startServer({ dataDir });
	assert.equal((await first.call('POST', '/api/v1/assistants', { name: 'Kept' })).status, 201);
	// A lock on a removed file keeps no other process out.
	await rm(join(dataDir, 'parley.lock'));
	await using second = await startServer({ dataDir, key: first.key });
	const refused = await first.call('POST', '/api/v1/assistants', { name: 'Lost' });
	assert.deepEqual([refused.status, refused.body.error.code], [503, 'unavailable']);
	assert.match(refused.body.error.message, /^Another server has taken this over/);
	const line = await until(
		'the end is logged',
		() => /^.*nothing can be written any more.*$/m.exec(first.output())?.[0],
	);
	assert.match(JSON.parse(line).error, /^Another Parley has taken over the database: /);
	assert.deepEqual(await first.exited, { code: 1, signal: null });
	const names = (await second.call('GET', '/api/v1/assistants')).body.data.map(({ name }: { name: string }) => name);
	assert.deepEqual(names, ['Kept']);
	assert.equal((await second.call('POST', '/api/v1/assistants', { name: 'Next' })).status, 201);
	await second.stop();
});
