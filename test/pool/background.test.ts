import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLog } from '../../src/base/index.ts';
import { createWorkerPool } from '../../src/pool/index.ts';
import { childProcesses } from './child-processes.ts';

/** The priorities of a process's threads. */
async function priorities(process: number | 'self'): Promise<number[]> {
	const threads = await readdir(`/proc/${process}/task`);
	const stats = await Promise.all(
		threads.map((id) => readFile(`/proc/${process}/task/${id}/stat`, 'utf8').catch(() => null)),
	);
	return stats
		.filter((stat) => stat !== null)
		.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
}

test('the parsing process has a lower priority than the server', {
	skip: process.platform !== 'linux' && 'threads have no priority of their own here',
}, async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-pool-'));
	t.after(() => rm(folder, { recursive: true }));
	const path = join(folder, 'small.txt');
	await writeFile(path, 'The warranty covers all defects for two years.');
	await using pool = createWorkerPool({ threads: 1, log: createLog('silent') });
	await pool.parse({ path, file_name: 'small.txt', content_type: null, title: null, url: null });
	const started = await childProcesses();
	assert.equal(started.length, 1, started.join());
	const threads = await priorities(started[0] as number);
	assert.ok(threads.length > 1);
	// The larger number is the lower priority.
	assert.ok(
		threads.every((priority) => priority > getPriority()),
		threads.join(),
	);
	assert.ok(
		(await priorities('self')).every((priority) => priority === getPriority()),
		'and no thread of the server',
	);
});
