import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { assertGoesOn, assertTurn } from './expected.ts';
import { FaultHarness, MODES, type Mode } from './fault-harness.ts';
import { TOOL_FAULTS, type ToolFault } from './tool-fault-table.ts';
import { ToolServer } from './tool-server.ts';

const tools = await ToolServer.start();
const bench = await FaultHarness.start(TOOL_FAULTS.flatMap(() => MODES.map(() => ({}))));
after(async () => {
	await bench[Symbol.asyncDispose]();
	await tools[Symbol.asyncDispose]();
});

test('every outcome of a call ends the reply as expected in all views, and the conversation continues', {
	concurrency: 6,
}, async (t) => {
	await Promise.all(
		TOOL_FAULTS.flatMap((fault) =>
			MODES.map((mode) => t.test(`${fault.what}, the reply ${mode}`, () => suffer(fault, mode))),
		),
	);
	await bench.assertNothingUnfinished();
});

async function suffer(
	{ scripts, carriedOut, mayTimeOutEarly = false, asked = scripts.length, ...expected }: ToolFault,
	mode: Mode,
): Promise<void> {
	const scene = await bench.scenario();
	await tools.attach(bench.app, scene.assistant, scene.deployment);
	scene.model.enqueue(...scripts);
	const content = 'Where is my order?';
	const key = `key of ${scene.deployment}`;
	const answered = await scene.send(mode, content, { key });
	const reply = await assertTurn(scene, mode, content, answered, expected);
	assert.equal(scene.model.calls.length, asked, 'how often the model was asked');
	const arrived = tools.askedBy(scene.deployment).length;
	if (!mayTimeOutEarly || arrived > 0) assert.equal(arrived, carriedOut, 'how often the tools were');
	assertTold(scene.model.calls.at(-1)?.body.messages ?? []);
	await scene.exchangesLeft();
	await assertGoesOn(scene, mode, { content, key }, reply, expected);
	await scene.exchangesLeft();
}

interface ToldMessage {
	role: string;
	tool_calls?: { id: string; function: { name: string } }[];
	tool_call_id?: string;
}

/** The model's history follows the protocol: every call has one result. */
function assertTold(messages: ToldMessage[]): void {
	const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
	for (const { function: called } of calls) assert.match(called.name, /^[a-zA-Z0-9_-]{1,64}$/);
	const asked = calls.map(({ id }) => id);
	const answered = messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id);
	assert.equal(new Set(asked).size, asked.length, 'no id is there twice');
	assert.deepEqual(answered, asked);
}
