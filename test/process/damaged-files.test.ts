import assert from 'node:assert/strict';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { runProgram } from '../support/run-command.ts';
import { createRestartableServer } from './restartable-server.ts';

test('a server whose database is damaged refuses to start with a sentence', async (t) => {
	const { dataDir, start } = await createRestartableServer(t);
	{
		await using server = await start();
		assert.deepEqual(await server.stop(), { code: 0, signal: null });
	}
	const path = join(dataDir, 'parley.db');
	const { size } = await stat(path);
	for (const [from, length] of [
		[4_096, size - 4_096],
		[0, 4_096],
	] as const) {
		const file = await open(path, 'r+');
		await file.write(Buffer.alloc(length, 0x5a), 0, length, from);
		await file.close();
		const { code, out, err } = await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' });
		assert.deepEqual([code, out], [1, '']);
		assert.match(
			err,
			/^parley: The database in .+ is damaged: .+\. Restore a backup; "parley doctor" shows what is damaged\. \(SQLITE_(CORRUPT|NOTADB)\)\n$/,
		);
	}
});
