// Own process: it replaces the global `setTimeout`.

import assert from 'node:assert/strict';
import test, { after, mock } from 'node:test';
import { assertGoesOn, assertTurn, type ExpectedReply } from './expected.ts';
import { FaultHarness, type FaultScenario, MODES, type Mode, type ObservedReply } from './fault-harness.ts';
import { PHASES, type Phase } from './phases.ts';
import { ToolServer } from './tool-server.ts';

/** Of no other timer; over as soon as every reply has come where it is held. */
const REPLY_MS = 54_321_000;

/** Ends the time of each reply that has begun. */
const ends: (() => void)[] = [];
const { setTimeout: setTimer } = globalThis;
mock.method(globalThis, 'setTimeout', (ring: () => void, ms?: number, ...values: []) => {
	if (ms === REPLY_MS) ends.push(ring);
	return setTimer(ring, ms, ...values);
});

const tools = await ToolServer.start();
// What a provider is waited for before it is asked again would end by itself.
const ROWS = PHASES.filter(({ waitsFor }) => waitsFor !== 'time').flatMap((phase) =>
	MODES.map((mode) => ({ phase, mode })),
);
const bench = await FaultHarness.start(
	ROWS.map(() => ({})),
	{ overrides: { replyTimeoutMs: REPLY_MS } },
);
after(async () => {
	await bench[Symbol.asyncDispose]();
	await tools[Symbol.asyncDispose]();
});

test('a reply that exceeds its time limit fails with its text so far', {
	concurrency: ROWS.length,
}, async (t) => {
	const held = await Promise.all(ROWS.map(({ phase, mode }) => hold(phase, mode)));
	assert.equal(ends.length, ROWS.length);
	for (const end of ends.splice(0)) end();
	await Promise.all(
		held.map((row) => t.test(`its time is over while it ${row.phase.what}, the reply ${row.mode}`, () => judge(row))),
	);
	await bench.assertNothingUnfinished();
});

interface HeldReply {
	phase: Phase;
	mode: Mode;
	scene: FaultScenario;
	sent: { content: string; key: string };
	answering: Promise<ObservedReply>;
}

/** Begins a reply and waits until it has come where it is held. */
async function hold(phase: Phase, mode: Mode): Promise<HeldReply> {
	const scene = await bench.scenario();
	await tools.attach(bench.app, scene.assistant, scene.deployment, 30_000);
	const never = new Promise<void>(() => {});
	const left = [...phase.scripts(never)];
	scene.model.setDefault(() => left.shift() ?? [{ say: 'Not asked for.' }]);
	const sent = { content: 'Where is my order?', key: `key of ${scene.deployment}` };
	const answering = scene.send(mode, sent.content, { key: sent.key });
	await phase.reached(scene, tools);
	return { phase, mode, scene, sent, answering };
}

async function judge({ phase, mode, scene, sent, answering }: HeldReply): Promise<void> {
	const { text, usage, calls = [], waitsFor } = phase;
	const expected: ExpectedReply = {
		status: 'failed',
		content: text,
		error: 'The model took too long to answer.',
		usage,
		calls,
		kept: calls.length === 0 ? '' : text,
	};
	const reply = await assertTurn(scene, mode, sent.content, await answering, expected);
	const exchanges = await scene.exchangesLeft();
	if (waitsFor === 'model') assert.equal(exchanges.at(-1), true, 'the provider is left');
	await assertGoesOn(scene, mode, sent, reply, expected);
}
