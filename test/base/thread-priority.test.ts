import assert from 'node:assert/strict';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { workerEntry } from '../../src/pool/index.ts';

const source = new URL('../../src/base/index.ts', import.meta.url).href;

/** The priority of a new thread, which may stand back before. */
async function priorityOfThread(standsBack: boolean): Promise<number> {
	const script = `
		import { readlinkSync } from 'node:fs';
		import { getPriority } from 'node:os';
		import { parentPort } from 'node:worker_threads';
		import { standBack } from ${JSON.stringify(source)};
		if (${standsBack}) standBack();
		parentPort.postMessage(getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1))));
	`;
	const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
	const worker = new Worker(url, { execArgv: workerEntry('parse').execArgv });
	const [priority] = await once(worker, 'message');
	await worker.terminate();
	return priority;
}

test('a thread that stands back goes behind the others, whose priority stays as it was', {
	skip: process.platform !== 'linux' && 'threads have no priority of their own here',
}, async () => {
	const before = getPriority();
	assert.equal(await priorityOfThread(false), before);
	assert.ok((await priorityOfThread(true)) > before, 'the larger number is the lower priority');
	assert.equal(getPriority(), before, 'of the main thread');
	assert.equal(await priorityOfThread(false), before, 'of a thread that starts afterwards');
});

test('the main thread never stands back, whatever calls it there', async () => {
	const { standBack } = await import('../../src/base/index.ts');
	const before = getPriority();
	standBack();
	assert.equal(getPriority(), before);
});
