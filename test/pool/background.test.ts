import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPool } from '../../src/pool/index.ts';

/** The priorities of this process's threads, one for each that is not the main thread's. */
async function lowered(): Promise<number[]> {
	const threads = await readdir('/proc/self/task');
	const stats = await Promise.all(
		threads.map((id) => readFile(`/proc/self/task/${id}/stat`, 'utf8').catch(() => null)),
	);
	return stats
		.filter((stat) => stat !== null)
		.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]))
		.filter((priority) => priority !== getPriority());
}

test('what reads documents goes behind whoever waits for an answer', {
	skip: process.platform !== 'linux' && 'threads have no priority of their own here',
}, async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-pool-'));
	t.after(() => rm(folder, { recursive: true }));
	const path = join(folder, 'small.txt');
	await writeFile(path, 'The warranty covers all defects for two years.');
	assert.deepEqual(await lowered(), [], 'all threads are equal before');
	await using pool = createPool({ threads: 1 });
	await pool.parse({ path, file_name: 'small.txt', content_type: null, title: null, url: null });
	const threads = await lowered();
	assert.equal(threads.length, 1, 'the one that reads, and no thread that the whole process shares');
	assert.ok((threads[0] as number) > getPriority(), 'the larger number is the lower priority');
});
