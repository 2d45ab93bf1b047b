import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Deferred, deferred } from '../../../src/base/index.ts';
import type { ModelScript } from '../../support/model-server.ts';
import { until } from '../../support/until.ts';
import { follow, isNamed } from '../streams.ts';
import {
	assertGoesOn,
	assertLogged,
	assertReply,
	assertStreamed,
	assertWhole,
	type ExpectedReply,
	usageOf,
	writtenAnew,
} from './expected.ts';
import { FaultHarness, type FaultScenario, MODES, type Mode } from './fault-harness.ts';
import { PHASES, type Phase } from './phases.ts';
import { ToolServer } from './tool-server.ts';

/** A reply that is being written when its server ends. */
interface CutOff {
	phase: Phase;
	mode: Mode;
	scene: FaultScenario;
	sent: { content: string; key: string };
	conversation: string;
	/** Where a client that follows the conversation is. */
	lastEventId: string | undefined;
	/** What the client that asked for the reply was answered; null where its connection broke. */
	answered: Promise<number | null>;
	/** What the model answers from now on. */
	scripts: ModelScript[];
	/** Opens when the reply may be written. */
	gate: Deferred<void>;
	/** How often it was asked. */
	asked: number;
}

const never = new Promise<void>(() => {});
const tools = await ToolServer.start();
// Until a provider is asked again is a time that passes by itself.
const held = PHASES.filter(({ waitsFor }) => waitsFor !== 'time').flatMap((phase) =>
	MODES.map((mode) => ({ phase, mode })),
);
const bench = await FaultHarness.start([...held, ...held].map(() => ({})));
after(async () => {
	await bench[Symbol.asyncDispose]();
	await tools[Symbol.asyncDispose]();
});

// A tool must answer within 30 seconds, so the replies that wait for one begin last, just before the restart.
const waitsForTool = ({ phase }: Pick<CutOff, 'phase'>) => phase.waitsFor === 'tool';
const forModels = held.filter((row) => !waitsForTool(row));
const forTools = held.filter(waitsForTool);
const once = await Promise.all(forModels.map(begin));
const twice = await Promise.all(forModels.map(begin));
const [onceForTools, twiceForTools] = await Promise.all([
	Promise.all(forTools.map(begin)),
	Promise.all(forTools.map(begin)),
]);
once.push(...onceForTools);
twice.push(...twiceForTools);
for (const { scripts, gate } of once) {
	scripts.splice(0, scripts.length, [{ wait: gate.promise }, { say: 'The whole answer.' }]);
}
for (const { scripts, phase } of twice) scripts.splice(0, scripts.length, ...phase.scripts(never));
await bench.restart();

test('a client whose reply is interrupted by a shutdown gets no end of the reply', async () => {
	for (const { answered } of [...once, ...twice]) assert.ok([503, null].includes(await answered));
});

test('a reply that is cut off once at any phase is written again after a reset event', {
	concurrency: 6,
}, async (t) => {
	await Promise.all(
		once.map((row) => t.test(`a reply that ${row.phase.what}, the reply ${row.mode}`, () => writtenAgain(row))),
	);
});

test('a reply that is interrupted twice fails, and a repeat rewrites it', {
	concurrency: 6,
}, async (t) => {
	await Promise.all(twice.map(reachedAgain));
	await bench.restart();
	await Promise.all(
		twice.map((row) => t.test(`a reply that ${row.phase.what}, the reply ${row.mode}`, () => givenUp(row))),
	);
	await bench.assertNothingUnfinished();
});

/** Begins a reply, and holds it in its phase. */
async function begin({ phase, mode }: Pick<CutOff, 'phase' | 'mode'>): Promise<CutOff> {
	const scene = await bench.scenario();
	await tools.attach(bench.app, scene.assistant, scene.deployment, 30_000);
	const scripts = [...phase.scripts(never)];
	scene.model.setDefault(() => scripts.shift() ?? [{ say: 'Not asked for.' }]);
	const sent = { content: 'Where is my order?', key: `key of ${scene.deployment}` };
	const answered = scene.send(mode, sent.content, { key: sent.key }).then(
		({ status }) => status,
		() => null,
	);
	await phase.reached(scene, tools);
	const conversation = await scene.conversation();
	await using stream = await follow(bench.app, conversation);
	const [opened] = await stream.until(isNamed('message.created'));
	return {
		phase,
		mode,
		scene,
		sent,
		conversation,
		lastEventId: opened?.id,
		answered,
		scripts,
		gate: deferred(),
		asked: scene.model.calls.length,
	};
}

/** Waits until a reply is held once more where it was held before. */
async function reachedAgain({ phase, scene, asked }: CutOff): Promise<void> {
	await until(`the model is called ${asked} times again`, () => scene.model.calls.length >= 2 * asked);
	if (phase.text !== '') await scene.heard(phase.text);
	if (phase.waitsFor === 'tool') {
		await until('the tool is asked once more', () => tools.askedBy(scene.deployment).length === 2);
	}
}

async function writtenAgain({ phase, scene, mode, sent, conversation, lastEventId, gate }: CutOff): Promise<void> {
	await using resumed = await follow(bench.app, conversation, lastEventId);
	const missed = await resumed.until(isNamed('message.reset'));
	const repeating = scene.send(mode, sent.content, { key: sent.key, onBegin: gate.resolve });
	if (mode === 'whole') gate.resolve();
	const repeated = await repeating;
	const expected = writtenAnew('The whole answer.', asLeft(phase));
	const [question, reply, ...more] = await scene.messages();
	assert.deepEqual(more, []);
	assertReply(reply, expected);
	for (const { data } of missed) assert.equal(data.message_id, reply.id);
	const rest = await resumed.until(isNamed('message.completed'));
	assert.deepEqual(rest.at(-1)?.data.message, reply);
	assert.equal(
		rest.map(({ data }) => data.delta ?? '').join(''),
		reply.content,
		'after the reset the text comes from its beginning',
	);
	if (mode === 'whole') assertWhole(repeated, question, reply);
	else assertStreamed(repeated.events, question, reply, 'reset');
	await assertLogged(scene, question, [reply]);
	await assertGoesOn(scene, mode, sent, reply, expected);
}

/** What a phase leaves to go on from: its calls, and what was said before them. */
function asLeft({ text, calls = [] }: Phase) {
	const kept = calls.length === 0 ? '' : text;
	return { status: 'failed', content: kept, usage: null, calls, kept } as const;
}

async function givenUp({ phase, mode, scene, sent, conversation, lastEventId, asked }: CutOff): Promise<void> {
	const { calls, kept } = asLeft(phase);
	const keptTwice = kept === '' ? '' : `${kept}\n\n${kept}`;
	const expected: ExpectedReply = {
		status: 'failed',
		content: keptTwice,
		error: 'The reply was interrupted twice and has been given up.',
		code: 'interrupted',
		usage: calls.length === 0 ? null : usageOf(2),
		calls: [...calls, ...calls],
		rounds: calls.length === 0 ? 0 : 2,
		kept: keptTwice,
	};
	const [question, reply, ...more] = await until('the reply has ended', async () => {
		const messages = await scene.messages();
		return messages[1]?.status !== 'in_progress' && messages;
	});
	assert.deepEqual(more, []);
	assertReply(reply, expected);
	await using resumed = await follow(bench.app, conversation, lastEventId);
	const heard = await resumed.until(isNamed('message.failed'));
	assert.deepEqual(
		heard.map(({ event, data }) => [event, data.message, data.error]),
		[['message.failed', reply, reply.error]],
	);
	assert.equal(scene.model.calls.length, 2 * asked, 'the model is not asked a third time');
	await assertLogged(scene, question, [reply]);
	await assertGoesOn(scene, mode, sent, reply, expected);
}
