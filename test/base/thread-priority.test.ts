import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

const source = new URL('../../src/base/index.ts', import.meta.url).href;
const readTypeScript = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register();`;

/** The priority of a new thread, which may stand back before. */
async function priorityOfThread(standsBack: boolean): Promise<number> {
	const script = `
		import { readlinkSync } from 'node:fs';
		import { getPriority } from 'node:os';
		import { parentPort } from 'node:worker_threads';
		import { lowerThreadPriority } from ${JSON.stringify(source)};
		if (${standsBack}) lowerThreadPriority();
		parentPort.postMessage(getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1))));
	`;
	const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
	const worker = new Worker(url, {
		execArgv: ['--import', `data:text/javascript,${encodeURIComponent(readTypeScript)}`],
	});
	const [priority] = await once(worker, 'message');
	await worker.terminate();
	return priority;
}

test('lowers the priority of one thread and leaves the others as they were', {
	skip: process.platform !== 'linux' && 'threads have no priority of their own here',
}, async () => {
	const before = getPriority();
	assert.equal(await priorityOfThread(false), before);
	assert.ok((await priorityOfThread(true)) > before, 'the larger number is the lower priority');
	assert.equal(getPriority(), before, 'of the main thread');
	assert.equal(await priorityOfThread(false), before, 'of a thread that starts afterwards');
});

test('never lowers the priority of the main thread', async () => {
	const { lowerThreadPriority } = await import('../../src/base/index.ts');
	const before = getPriority();
	lowerThreadPriority();
	assert.equal(getPriority(), before);
});

/** The priorities of a new process's threads after it has gone before its common ones: its main thread's, and all others'. */
async function prioritiesOfProcess(): Promise<{ main: number; others: number[]; started: number }> {
	const script = `
		import { once } from 'node:events';
		import { readdirSync } from 'node:fs';
		import { getPriority } from 'node:os';
		import { Worker } from 'node:worker_threads';
		const { lowerRuntimeThreadsPriority } = await import(${JSON.stringify(source)});
		lowerRuntimeThreadsPriority();
		lowerRuntimeThreadsPriority();
		const before = readdirSync('/proc/self/task').map(Number);
		const others = before.filter((thread) => thread !== process.pid).map((thread) => getPriority(thread));
		const worker = new Worker(\`
			const { readlinkSync } = require('node:fs');
			const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
			require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority(thread));
		\`, { eval: true, execArgv: [] });
		const [started] = await once(worker, 'message');
		console.log(JSON.stringify({ main: getPriority(), others, started }));
	`;
	const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
	const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
	return JSON.parse(stdout);
}

test('the main thread and threads that it starts later go before Node’s shared threads', {
	skip: process.platform !== 'linux' && 'threads have no priority of their own here',
}, async () => {
	const before = getPriority();
	const { main, others, started } = await prioritiesOfProcess();
	assert.equal(main, before);
	assert.equal(started, before);
	assert.ok(others.length > 0);
	// Once, however often it is called.
	for (const priority of others) assert.equal(priority, Math.min(19, before + 4));
});
