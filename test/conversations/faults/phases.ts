import type { ModelScript } from '../../support/model-server.ts';
import { until } from '../../support/until.ts';
import { type ExpectedCall, usageOf } from './expected.ts';
import type { FaultScenario } from './fault-harness.ts';
import type { ToolServer } from './tool-server.ts';

/** A moment in the life of a reply at which it is held, until `gate` opens. */
export interface Phase {
	/** Ends "a reply that …". */
	what: string;
	/** How the model answers, call by call. */
	scripts(gate: Promise<void>): readonly ModelScript[];
	/** Resolves when the reply has come there. */
	reached(scene: FaultScenario, tools: ToolServer): Promise<unknown>;
	/** What there is of the reply then. */
	text: string;
	usage: { input_tokens: number; output_tokens: number } | null;
	calls?: readonly ExpectedCall[];
	/** What is added when it goes on. */
	rest: string;
	/** Whose connection is open then. */
	waitsFor: 'model' | 'tool' | 'time';
}

const HELD = { call: { id: 'call_a', name: 'order', arguments: { path: 'held' } } };
const DONE: ExpectedCall = { name: 'order', status: 'completed', result: /shipped/ };
const called = (times: number) => (scene: FaultScenario) => scene.model.call(times - 1);

/** Where a reply can be when something happens to it. */
export const PHASES: readonly Phase[] = [
	{
		what: 'waits for the headers of its provider',
		scripts: (gate) => [[{ wait: gate }, { say: 'Fine.' }]],
		reached: called(1),
		text: '',
		usage: null,
		rest: 'Fine.',
		waitsFor: 'model',
	},
	{
		what: 'waits for its first word',
		scripts: (gate) => [[{ raw: ': wait\n\n' }, { wait: gate }, { say: 'Fine.' }]],
		reached: called(1),
		text: '',
		usage: null,
		rest: 'Fine.',
		waitsFor: 'model',
	},
	{
		what: 'waits until its provider is asked again',
		scripts: (gate) => [[{ status: 503, headers: { 'retry-after': '1' } }], [{ wait: gate }, { say: 'Fine.' }]],
		reached: async ({ model }) => (await model.call(0)).callerLeft,
		text: '',
		usage: null,
		rest: 'Fine.',
		waitsFor: 'time',
	},
	{
		what: 'is in the middle of its text',
		scripts: (gate) => [[{ say: 'Half an ' }, { wait: gate }, { say: 'answer.' }]],
		reached: (scene) => scene.heard('Half an '),
		text: 'Half an ',
		usage: null,
		rest: 'answer.',
		waitsFor: 'model',
	},
	{
		what: 'is in the middle of a call',
		scripts: () => [[{ say: 'One moment.' }, HELD], [{ say: 'Shipped.' }]],
		reached: ({ deployment }, tools) => until('the tool is asked', () => tools.askedBy(deployment).length > 0),
		text: 'One moment.',
		usage: usageOf(1),
		calls: [{ name: 'order', status: 'stopped', result: null }],
		rest: '\n\nShipped.',
		waitsFor: 'tool',
	},
	{
		what: 'waits for what its model says to a call',
		scripts: (gate) => [
			[{ call: { id: 'call_a', name: 'order', arguments: { path: '1' } } }],
			[{ wait: gate }, { say: 'Shipped.' }],
		],
		reached: called(2),
		text: '',
		usage: usageOf(1),
		calls: [DONE],
		rest: 'Shipped.',
		waitsFor: 'model',
	},
];

/** The calls of a phase once they have been answered. */
export function endedCalls({ calls = [] }: Phase): readonly ExpectedCall[] {
	return calls.map(() => DONE);
}
