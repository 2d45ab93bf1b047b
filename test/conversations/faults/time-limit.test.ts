import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { Bench, MODES, type Mode } from './bench.ts';
import { assertGoesOn, assertTurn, type ExpectedReply } from './expected.ts';
import { PHASES, type Phase } from './phases.ts';
import { ToolServer } from './tool-server.ts';

/** Long enough for every reply to come where it is held, however busy the machine is: all rows wait at the same time. */
const REPLY_MS = 8_000;

const tools = await ToolServer.start();
// What a provider is waited for before it is asked again would end by itself.
const ROWS = PHASES.filter(({ waitsFor }) => waitsFor !== 'time').flatMap((phase) =>
	MODES.map((mode) => ({ phase, mode })),
);
const bench = await Bench.start(
	ROWS.map(() => ({})),
	{ overrides: { replyMs: REPLY_MS } },
);
after(async () => {
	await bench[Symbol.asyncDispose]();
	await tools[Symbol.asyncDispose]();
});

test('a reply that takes longer than a reply may take has failed with what there is of it', {
	concurrency: ROWS.length,
}, async (t) => {
	await Promise.all(
		ROWS.map(({ phase, mode }) =>
			t.test(`its time is over while it ${phase.what}, the reply ${mode}`, () => play(phase, mode)),
		),
	);
	await bench.assertNothingUnfinished();
});

async function play({ scripts, text, usage, calls = [], waitsFor }: Phase, mode: Mode): Promise<void> {
	const scene = await bench.scene();
	await tools.attach(bench.app, scene.assistant, scene.deployment, 30_000);
	const never = new Promise<void>(() => {});
	const left = [...scripts(never)];
	scene.model.always(() => left.shift() ?? [{ say: 'Not asked for.' }]);
	const sent = { content: 'Where is my order?', key: `key of ${scene.deployment}` };
	const expected: ExpectedReply = {
		status: 'failed',
		content: text,
		error: 'The model took too long to answer.',
		usage,
		calls,
		kept: calls.length === 0 ? '' : text,
	};
	const answered = await scene.send(mode, sent.content, { key: sent.key });
	const reply = await assertTurn(scene, mode, sent.content, answered, expected);
	const exchanges = await scene.exchangesLeft();
	if (waitsFor === 'model') assert.equal(exchanges.at(-1), true, 'the provider is left');
	await assertGoesOn(scene, mode, sent, reply, expected);
}
