import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { deferred } from '../../../src/base/index.ts';
import { until } from '../../support/until.ts';
import { assertGoesOn, assertLogged, assertReply, assertTurn, type ExpectedReply, usageOf } from './expected.ts';
import { FaultHarness, type FaultScenario, MODES, type Mode, type ObservedReply } from './fault-harness.ts';
import { endedCalls, PHASES, type Phase } from './phases.ts';
import { ToolServer } from './tool-server.ts';

/** Something that happens to a conversation while a reply is written in it. */
interface Interruption {
	/** Begins the test's name. */
	what: string;
	/** What comes of the reply. */
	outcome: 'stopped' | 'completed' | 'erased';
	act(at: { scene: FaultScenario; path: string; leave: () => void }): Promise<void>;
	/** Makes the conversation one in which the model answers again. */
	undo?(at: { scene: FaultScenario; path: string }): Promise<void>;
	/** The events of the conversation that tell of it. */
	told?: readonly string[];
}

const ask = async ({ harness }: FaultScenario, method: string, path: string, body?: object) => {
	const answer = await harness.app.call(method, path, body);
	assert.equal(answer.status, 200, JSON.stringify(answer.body));
};

const INTERRUPTIONS: readonly Interruption[] = [
	{
		what: 'stopping',
		outcome: 'stopped',
		act: ({ scene, path }) => ask(scene, 'POST', `${path}/stop`),
	},
	{
		what: 'taking over',
		outcome: 'stopped',
		act: ({ scene, path }) => ask(scene, 'POST', `${path}/takeover`),
		undo: ({ scene, path }) => ask(scene, 'POST', `${path}/release`),
		told: ['conversation.updated'],
	},
	{
		what: 'archiving',
		outcome: 'completed',
		act: ({ scene, path }) => ask(scene, 'DELETE', path),
		undo: ({ scene, path }) => ask(scene, 'PATCH', path, { status: 'active' }),
		told: ['conversation.updated', 'conversation.closed'],
	},
	{
		what: 'erasing',
		outcome: 'erased',
		act: ({ scene, path }) => ask(scene, 'DELETE', `${path}?purge=true`),
	},
	{
		what: 'leaving',
		outcome: 'completed',
		act: async ({ leave }) => leave(),
	},
];

const ROWS = INTERRUPTIONS.flatMap((interruption) =>
	PHASES.flatMap((phase) => MODES.map((mode) => ({ interruption, phase, mode }))),
);

const tools = await ToolServer.start();
const bench = await FaultHarness.start(ROWS.map(() => ({})));
after(async () => {
	await bench[Symbol.asyncDispose]();
	await tools[Symbol.asyncDispose]();
});

test('every interruption of a conversation ends its running reply as expected', {
	concurrency: 6,
}, async (t) => {
	await Promise.all(
		ROWS.map(({ interruption, phase, mode }) =>
			t.test(`${interruption.what} a conversation whose reply ${phase.what}, the reply ${mode}`, () =>
				play(interruption, phase, mode),
			),
		),
	);
	await bench.assertNothingUnfinished();
});

async function play(interruption: Interruption, phase: Phase, mode: Mode): Promise<void> {
	const scene = await bench.scenario();
	await tools.attach(bench.app, scene.assistant, scene.deployment, 30_000);
	const gate = deferred<void>();
	const scripts = [...phase.scripts(gate.promise)];
	scene.model.setDefault(() => scripts.shift() ?? [{ say: 'Not asked for.' }]);
	const sent = { content: 'Where is my order?', key: `key of ${scene.deployment}` };
	const client = new AbortController();
	const answering = scene.send(mode, sent.content, { key: sent.key, signal: client.signal }).catch((error: unknown) => {
		if (client.signal.aborted) return null;
		throw error;
	});
	await phase.reached(scene, tools);
	const path = `/api/v1/conversations/${await scene.conversation()}`;
	await interruption.act({ scene, path, leave: () => client.abort() });
	const goesOn = interruption.outcome === 'completed';
	if (goesOn) {
		gate.resolve();
		tools.open(scene.deployment);
	}
	const answered = await answering;
	await assertConnections(scene, phase, goesOn);
	// Where the reply was cut off, this comes too late for it.
	if (!goesOn) scripts.length = 0;
	gate.resolve();
	tools.open(scene.deployment);
	if (interruption.outcome === 'erased') return assertErased(scene, path, mode, answered);
	const expected = goesOn ? whole(phase) : soFar(phase);
	const reply = await assertEnded(scene, mode, sent.content, answered, expected);
	const log = await bench.eventsOf(reply.conversation_id);
	const conversationEvents = log.map(({ type }) => type).filter((type) => type.startsWith('conversation.'));
	assert.deepEqual(conversationEvents.slice(1), interruption.told ?? []);
	await interruption.undo?.({ scene, path });
	await assertGoesOn(scene, mode, sent, reply, expected);
}

function soFar({ text, usage, calls = [] }: Phase): ExpectedReply {
	return { status: 'stopped', content: text, usage, calls };
}

function whole(phase: Phase): ExpectedReply {
	const { text, rest, usage } = phase;
	return {
		status: 'completed',
		content: text + rest,
		usage: usageOf(usage === null ? 1 : 2),
		calls: endedCalls(phase),
	};
}

/** @param answered null where the client has left */
async function assertEnded(
	scene: FaultScenario,
	mode: Mode,
	content: string,
	answered: ObservedReply | null,
	expected: ExpectedReply,
) {
	if (answered !== null) return assertTurn(scene, mode, content, answered, expected);
	const [question, reply] = await until('the reply has ended', async () => {
		const messages = await scene.messages();
		return messages[1]?.status !== 'in_progress' && messages;
	});
	assertReply(reply, expected);
	await assertLogged(scene, question, [reply], expected);
	return reply;
}

/** Connections for an aborted reply are closed, and other connections are read to their end. */
async function assertConnections(scene: FaultScenario, { waitsFor }: Phase, goesOn: boolean): Promise<void> {
	const left = await scene.exchangesLeft();
	if (waitsFor === 'tool' && !goesOn) {
		await until('the tool is left', () => tools.leftBy(scene.deployment) === 1);
	} else if (waitsFor === 'model') {
		assert.equal(left.at(-1), !goesOn);
	}
}

async function assertErased(
	scene: FaultScenario,
	path: string,
	mode: Mode,
	answered: ObservedReply | null,
): Promise<void> {
	assert.ok(answered);
	if (mode === 'whole') {
		assert.deepEqual([answered.status, answered.body.error.code], [404, 'not_found']);
	} else {
		assert.equal(answered.events[1]?.event, 'message.created');
		const names = answered.events.map(({ event }) => event);
		assert.ok(!names.includes('message.completed') && !names.includes('message.failed'), names.join(', '));
	}
	assert.equal((await bench.app.call('GET', path)).status, 404);
	const { body } = await bench.app.call('GET', `/api/v1/conversations?deployment_id=${scene.deployment}`);
	assert.deepEqual(body.data, []);
	assert.deepEqual(await bench.freshLog().of(path.split('/').at(-1) ?? ''), []);
	scene.model.enqueue([{ say: 'Yes.' }]);
	assert.equal((await scene.send('whole', 'A new one?')).body.content, 'Yes.');
}
