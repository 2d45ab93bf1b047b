import type { ModelScript } from '../../support/model-server.ts';
import { type ExpectedCall, type ExpectedReply, usageOf } from './expected.ts';

/** What a model asks of its tools, what these do, and what is to come of it. */
export interface ToolFault extends ExpectedReply {
	/** A sentence's beginning; "the reply whole" or "the reply streamed" ends it. */
	what: string;
	/** How the model answers, round by round. */
	scripts: readonly ModelScript[];
	/** How often the tools' server is asked. */
	carriedOut: number;
	/** The time limit of a call may pass before its request arrives. */
	mayTimeOutEarly?: boolean;
	/** How often the model is asked; as often as there are scripts, where not said. */
	asked?: number;
}

/** A call of the tool `order`; a text goes as it is. */
const order = (given: unknown, id = 'call_a', name = 'order') => ({ call: { id, name, arguments: given } });
const call = (path: string, id?: string) => order({ path }, id);
const FINE: ModelScript = [{ say: 'Fine.' }];
const SHIPPED: ExpectedCall = { name: 'order', status: 'completed', result: /^\{"state":"shipped"\}$/ };
const refused = (result: RegExp, told = true): ExpectedCall => ({ name: 'order', status: 'failed', result, told });

const completed = (calls: readonly ExpectedCall[], rounds = 2, content = 'Fine.'): ExpectedReply => {
	return { status: 'completed', content, usage: usageOf(rounds), calls };
};
const failed = (error: string, more: Omit<ExpectedReply, 'status' | 'error'>): ExpectedReply => {
	return { status: 'failed', error, ...more };
};

const ARGUMENTS: ToolFault[] = [
	{
		what: 'a call whose arguments are broken JSON',
		scripts: [[order('{"path": "4711"')], FINE],
		carriedOut: 0,
		...completed([refused(/^The arguments do not fit: they must be a JSON object\.$/)]),
	},
	{
		what: 'a call whose arguments are no object',
		scripts: [[order('["4711"]')], FINE],
		carriedOut: 0,
		...completed([refused(/they must be a JSON object/)]),
	},
	{
		what: 'a call whose arguments do not fit',
		scripts: [[order({ path: 4711 })], FINE],
		carriedOut: 0,
		...completed([refused(/^The arguments do not fit: .*path.*string/)]),
	},
	{
		what: 'a call whose arguments are nested deeper than anybody reads',
		scripts: [[order(`{"path":${'['.repeat(9_000)}${']'.repeat(9_000)}}`)], FINE],
		carriedOut: 0,
		...completed([refused(/^The arguments do not fit/)]),
	},
	{
		what: 'a call of a tool that there is not',
		scripts: [[order({}, 'call_a', 'coffee')], FINE],
		carriedOut: 0,
		...completed([
			{ name: 'coffee', status: 'failed', result: /^There is no tool of this name\. There are: order, gone, never\.$/ },
		]),
	},
	{
		what: 'a call of a name that no provider takes back',
		scripts: [[order({}, 'call_a', 'multi_tool_use.parallel')], FINE],
		carriedOut: 0,
		...completed([{ name: 'multi_tool_use_parallel', status: 'failed', result: /^There is no tool of this name\./ }]),
	},
	{
		what: 'a call of a name without end',
		scripts: [[order({}, 'call_a', 'name'.repeat(100_000))], FINE],
		carriedOut: 0,
		...completed([{ name: 'name'.repeat(16), status: 'failed', result: /^There is no tool of this name\./ }]),
	},
	{
		what: 'a call of a name that is written with a space',
		scripts: [[order({ path: '1' }, 'call_a', ' order')], FINE],
		carriedOut: 0,
		...completed([{ name: '_order', status: 'failed', result: /^There is no tool of this name\./ }]),
	},
	{
		what: 'a call with halves of characters and NUL in it',
		scripts: [[order(JSON.stringify({ path: 'a\u0000b\ud83d' }), 'call_\ud83d')], FINE],
		carriedOut: 0,
		...completed([refused(/./)]),
	},
	{
		what: 'calls that all have the same id',
		scripts: [[call('1', 'call_2'), call('2', 'call_2'), call('3', 'call_2')], [call('4', 'call_2')], FINE],
		carriedOut: 4,
		...completed([SHIPPED, SHIPPED, SHIPPED, SHIPPED], 3),
	},
	{
		what: 'a call with the id that one had in the round before',
		scripts: [[call('1', 'call_2')], [call('2', 'call_2')], FINE],
		carriedOut: 2,
		...completed([SHIPPED, SHIPPED], 3),
	},
	{
		what: 'a call with an id that is very long',
		scripts: [[call('1', 'x'.repeat(10_000))], FINE],
		carriedOut: 1,
		...completed([SHIPPED]),
	},
];

const TOOLS: ToolFault[] = [
	{
		what: 'a tool that fails, beside one that does not',
		scripts: [[call('lost'), call('1', 'call_b')], FINE],
		carriedOut: 2,
		...completed([refused(/^The API answered with status 500\.\nout of order$/), SHIPPED]),
	},
	{
		what: 'a tool that cannot be reached',
		scripts: [[order({}, 'call_a', 'gone')], FINE],
		carriedOut: 0,
		...completed([{ name: 'gone', status: 'failed', result: /./, told: true }]),
	},
	{
		what: 'a tool that hangs',
		scripts: [[{ say: 'One moment.' }, order({}, 'call_a', 'never')], FINE],
		carriedOut: 1,
		mayTimeOutEarly: true,
		...completed(
			[{ name: 'never', status: 'failed', result: /^The tool did not answer within 0\.5 seconds\.$/, told: true }],
			2,
			'One moment.\n\nFine.',
		),
	},
	{
		what: 'a tool that breaks off its answer',
		scripts: [[call('broken')], FINE],
		carriedOut: 1,
		...completed([refused(/^The connection broke off before the answer was complete\.$/)]),
	},
	{
		what: 'a tool that answers with bytes',
		scripts: [[call('bytes')], FINE],
		carriedOut: 1,
		...completed([refused(/^The API answered with image\/png, which is not text\.$/)]),
	},
	{
		what: 'a tool that answers with a megabyte',
		scripts: [[call('huge')], FINE],
		carriedOut: 1,
		...completed([
			{ ...SHIPPED, result: /^x{30000,33000}\n\[The rest was cut off: the result is longer than 32 KiB\.\]$/ },
		]),
	},
	{
		what: 'a tool that answers with text of which some is none',
		scripts: [[call('odd')], FINE],
		carriedOut: 1,
		...completed([{ ...SHIPPED, result: /^a\ufffdc$/ }]),
	},
	{
		what: 'a tool that answers with NUL, which is in no text',
		scripts: [[call('nul')], FINE],
		carriedOut: 1,
		...completed([refused(/^The API answered with text\/plain, which is not text\.$/)]),
	},
];

const ROUNDS: ToolFault[] = [
	{
		what: 'calls without end',
		scripts: [...Array.from({ length: 8 }, (_, at) => [call(`${at}`, `call_${at}`)]), FINE],
		carriedOut: 8,
		...completed(Array(8).fill(SHIPPED), 9),
	},
	{
		what: 'calls without end by a model that does not heed that it has no tools any more',
		scripts: Array.from({ length: 9 }, (_, at) => [call(`${at}`, `call_${at}`)]),
		carriedOut: 8,
		...failed('The model asked for tools that it was not given.', {
			content: '',
			usage: usageOf(9),
			calls: Array(8).fill(SHIPPED),
		}),
		rounds: 8,
	},
	{
		what: 'more calls at once than are carried out',
		scripts: [Array.from({ length: 18 }, (_, at) => call(`${at}`, `call_${at}`)), FINE],
		carriedOut: 16,
		...completed(Array(16).fill(SHIPPED)),
	},
	{
		what: 'more calls at once than a model may ask for',
		scripts: [[{ say: 'Wait.' }, ...Array.from({ length: 100 }, (_, at) => call(`${at}`, `call_${at}`))]],
		carriedOut: 0,
		...failed('The model asked for too many tools at once.', { content: 'Wait.', usage: null }),
	},
	{
		what: 'a call in an answer that says it has come to its end',
		scripts: [[call('1'), { finish: 'stop' }], FINE],
		carriedOut: 1,
		...completed([SHIPPED]),
	},
	{
		what: 'a call in an answer that was cut off',
		scripts: [[{ say: 'Wait.' }, call('1'), { finish: 'length' }]],
		carriedOut: 0,
		...failed('The answer was cut off: it reached the length that the model may write.', {
			content: 'Wait.',
			usage: usageOf(1),
		}),
	},
	{
		what: 'a call in an answer that breaks off',
		scripts: [[{ say: 'Wait.' }, call('1'), { die: true }]],
		carriedOut: 0,
		...failed('The connection to the model provider broke off before the answer was complete.', {
			content: 'Wait.',
			usage: null,
		}),
	},
];

const AFTER_A_ROUND: ToolFault[] = [
	{
		what: 'a model that breaks off after a call',
		scripts: [
			[{ say: 'One moment.' }, call('1')],
			[{ say: 'It is ' }, { die: true }],
		],
		carriedOut: 1,
		...failed('The connection to the model provider broke off before the answer was complete.', {
			content: 'One moment.\n\nIt is ',
			usage: usageOf(1),
			calls: [SHIPPED],
		}),
		kept: 'One moment.',
	},
	{
		what: 'a model that is refused after a call',
		scripts: [[call('1')], [{ status: 400, body: '{}' }]],
		carriedOut: 1,
		...failed('The model provider did not accept the request.', { content: '', usage: usageOf(1), calls: [SHIPPED] }),
	},
	{
		what: 'a model that fails once after a call',
		scripts: [[call('1')], [{ status: 503 }], FINE],
		carriedOut: 1,
		...completed([SHIPPED]),
	},
	{
		what: 'a model that says nothing after a call, nor when it is asked once more',
		scripts: [[call('1')], [{ finish: 'stop' }], [{ finish: 'stop' }]],
		carriedOut: 1,
		...failed('The model gave an empty answer.', { content: '', usage: usageOf(3), calls: [SHIPPED] }),
	},
	{
		what: 'a model that says nothing after a call, and answers when it is asked once more',
		scripts: [[call('1')], [{ finish: 'stop' }], FINE],
		carriedOut: 1,
		...completed([SHIPPED], 3),
	},
	{
		what: 'a model that says white space before a call and nothing after it',
		scripts: [[{ say: ' \n' }, call('1')], [{ finish: 'stop' }], [{ finish: 'stop' }]],
		carriedOut: 1,
		...failed('The model gave an empty answer.', { content: ' \n', usage: usageOf(3), calls: [SHIPPED] }),
		kept: ' \n',
	},
	{
		what: 'a model that announces a call and says nothing after it',
		scripts: [[{ say: 'I look it up.' }, call('1')], [{ finish: 'stop' }], [{ finish: 'stop' }]],
		carriedOut: 1,
		...failed('The model gave an empty answer.', { content: 'I look it up.', usage: usageOf(3), calls: [SHIPPED] }),
		kept: 'I look it up.',
	},
	{
		what: 'a model that says nothing after a call, and calls again when it is asked once more',
		scripts: [[call('1')], [{ finish: 'stop' }], [call('2', 'call_b')], FINE],
		carriedOut: 2,
		...completed([SHIPPED, SHIPPED], 4),
	},
];

/** The fault table of tool calls: each row is played once with the reply whole, and once with the reply streamed. */
export const TOOL_FAULTS: readonly ToolFault[] = [...ARGUMENTS, ...TOOLS, ...ROUNDS, ...AFTER_A_ROUND];
