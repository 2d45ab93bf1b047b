import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { assertGoesOn, assertTurn, type ExpectedReply } from './expected.ts';
import { FaultHarness, MODES, type Mode } from './fault-harness.ts';
import { PROVIDER_FAULTS, type ProviderFault } from './provider-fault-table.ts';

const bench = await FaultHarness.start(PROVIDER_FAULTS.flatMap(({ settings = {} }) => MODES.map(() => settings)));
after(() => bench[Symbol.asyncDispose]());

test('every behaviour of a provider ends the reply as expected in all views, and the conversation continues', {
	concurrency: 6,
}, async (t) => {
	await Promise.all(
		PROVIDER_FAULTS.flatMap((fault) =>
			MODES.map((mode) => t.test(`a provider that ${fault.what}, the reply ${mode}`, () => suffer(fault, mode))),
		),
	);
	await bench.assertNothingUnfinished();
});

async function suffer({ scripts, asked = 1, ...expected }: ProviderFault, mode: Mode): Promise<void> {
	const scene = await bench.scenario();
	const answers = typeof scripts === 'function' ? scripts(scene) : scripts;
	scene.model.enqueue(...answers);
	const content = 'How are you?';
	const key = `key of ${scene.deployment}`;
	const answered = await scene.send(mode, content, { key });
	const reply = await assertTurn(scene, mode, content, answered, expected satisfies ExpectedReply);
	assert.equal(scene.model.calls.length, asked, 'how often the provider was asked');
	await scene.exchangesLeft();
	await assertGoesOn(scene, mode, { content, key }, reply, expected);
	await scene.exchangesLeft();
}
