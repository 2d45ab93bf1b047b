import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { followSource, htmlPage, startWebsite } from '../knowledge/sources/website.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { createRestartableServer } from './restartable-server.ts';

const BASES = '/api/v1/knowledge-bases';
const ENV = { PARLEY_ALLOW_PRIVATE_NETWORK: '1' };

test('a run that a kill interrupts continues with the pages that are left', async (t) => {
	const held: ServerResponse[] = [];
	await using site = await startWebsite({
		'/': htmlPage('Home', 'Welcome.', ['/a', '/b', '/c']),
		'/a': htmlPage('A', 'The attic has kettles.'),
		'/b': (_request, response) => void held.push(response),
		'/c': htmlPage('C', 'The cellar has kettles.'),
	});
	const { start } = await createRestartableServer(t, ENV);
	let base: string;
	let id: string;
	{
		await using server = await start();
		({ base, id } = await followSource(server, { type: 'website', url: site.url }));
		await until('the third page is being fetched', () => held.length === 1);
		await server.kill();
	}
	for (const response of held) response.destroy();
	site.pages.set('/b', htmlPage('B', 'The barn has kettles.'));
	await using server = await start();
	const path = `${BASES}/${base}/sources/${id}`;
	const source = await until('the run has ended', async () => {
		const { body } = await server.call('GET', path);
		return body.status === 'idle' && body.progress.indexed === 4 && body;
	});
	assert.deepEqual(source.progress, { found: 4, fetched: 4, indexed: 4, unchanged: 0, failed: 0, gone: 0 });
	assert.deepEqual(site.takeRequests(), ['/', '/a', '/b', '/c'], 'no page is fetched twice');
});

test('what was deleted is never found again, through reindexes, runs and kills', async (t) => {
	const words = ['albatross', 'bittern'];
	await using site = await startWebsite({
		'/': htmlPage(
			'Birds',
			'The index of all birds.',
			words.map((word) => `/${word}`),
		),
		...Object.fromEntries(words.map((word) => [`/${word}`, htmlPage(word, `The ${word} nests on the kettle.`)])),
	});
	const { start } = await createRestartableServer(t, ENV);
	const deleted: string[] = [];
	const check = async (server: ServerProcess, base: string) => {
		const { status, body } = await server.call('POST', `${BASES}/${base}/search`, {
			query: `kettle ${words.join(' ')}`,
			top_k: 50,
		});
		assert.equal(status, 200);
		const text = JSON.stringify(body.data);
		for (const sentence of deleted) assert.ok(!text.includes(sentence), `found again: ${sentence}`);
		return body.data.length;
	};
	let base = '';
	let path = '';
	for (const word of words) {
		await using server = await start();
		if (base === '') {
			const source = await followSource(server, { type: 'website', url: site.url });
			({ base, path } = source);
			await source.untilDone();
			const content = 'The control document is about the kettle.';
			await server.call('POST', `${BASES}/${base}/documents`, { source_type: 'text', content });
		}
		await check(server, base);
		assert.equal((await server.call('POST', `${path}/refresh`)).status, 200);
		assert.equal((await server.call('POST', `${BASES}/${base}/reindex`)).status, 200);
		const { body } = await server.call('GET', `${path}/pages?status=fetched`);
		const page = body.data.find(({ url }: { url: string }) => url.endsWith(word));
		const { status } = await server.call('DELETE', `${BASES}/${base}/documents/${page.document_id}`);
		assert.equal(status, 200);
		deleted.push(`The ${word} nests`);
		for (let look = 0; look < 5; look++) await check(server, base);
		await server.kill();
	}
	{
		await using server = await start();
		await check(server, base);
		await until('reindex and run have ended', async () => {
			await check(server, base);
			const { body } = await server.call('GET', path);
			const { body: status } = await server.call('GET', `${BASES}/${base}/status`);
			return body.status === 'idle' && status.status === 'ready';
		});
		await server.call('POST', `${path}/refresh`);
		await server.call('POST', `${BASES}/${base}/reindex`);
		assert.equal((await server.call('DELETE', path)).status, 200);
		deleted.push('index of all birds');
		assert.equal(await check(server, base), 1);
		await server.kill();
	}
	await using server = await start();
	assert.equal(await check(server, base), 1);
	await until('the reindex has ended', async () => {
		assert.equal(await check(server, base), 1, 'only the control document is found');
		return (await server.call('GET', `${BASES}/${base}/status`)).body.status === 'ready';
	});
	assert.equal((await server.call('GET', path)).status, 404);
});
