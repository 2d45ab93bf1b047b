import assert from 'node:assert/strict';
import test from 'node:test';
import { ModelServer } from '../support/model-server.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { createRestartableServer } from './restartable-server.ts';

/** The context of 1,000 tokens and 100 for the answer, each a micro. */
const RESERVED = 1_100;
/** The tokens that the stand-in counts for an answer. */
const ANSWERED = 18;

test('a server killed between reservation and settlement settles each reservation once', async (t) => {
	await using model = await ModelServer.start();
	const providers = [
		{
			...{ id: 'priced', type: 'openai-compatible', base_url: model.baseUrl },
			...{ context_tokens: 1_000, max_output_tokens: 100, prices: { '*': { input: 1, output: 1 } } },
		},
	];
	const servers = await createRestartableServer(t, { PARLEY_PROVIDERS: JSON.stringify(providers) });
	const totalOf = async (server: ServerProcess) => (await server.call('GET', '/api/v1/costs')).body.total;
	const countOf = 3;
	let deployment = '';
	{
		await using server = await servers.start();
		const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Guide', model: 'priced/any' });
		const body = { assistant_id: assistant.body.id, budget: { amount_micros: countOf * RESERVED } };
		deployment = (await server.call('POST', '/api/v1/deployments', body)).body.id;
		model.enqueue(...Array.from({ length: countOf }, () => [{ say: 'On' }, { hang: true }] as const));
		const question = { deployment_id: deployment, content: 'Hello' };
		const sent = Array.from({ length: countOf }, () =>
			server.call('POST', '/api/v1/messages', question).catch(() => null),
		);
		await model.call(countOf - 1);
		assert.deepEqual(await totalOf(server), { cost_micros: 0, reserved_micros: countOf * RESERVED });
		assert.equal((await server.call('POST', '/api/v1/messages', question)).status, 403);
		const more = { budget: { amount_micros: 2 * countOf * RESERVED } };
		assert.equal((await server.call('PATCH', `/api/v1/deployments/${deployment}`, more)).status, 200);
		assert.equal((await server.kill()).signal, 'SIGKILL', server.output());
		await Promise.all(sent);
	}
	await using server = await servers.start();
	// Each reply is written again by another call. What the call that was cut off has cost is not known.
	await until('every reservation is settled', async () => (await totalOf(server)).reserved_micros === 0);
	assert.deepEqual(await totalOf(server), { cost_micros: countOf * (RESERVED + ANSWERED), reserved_micros: 0 });
	const { data } = (await server.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body;
	assert.deepEqual(
		data.map(({ cost_micros }: { cost_micros: number }) => cost_micros),
		Array.from({ length: countOf }, () => RESERVED + ANSWERED),
	);
});
