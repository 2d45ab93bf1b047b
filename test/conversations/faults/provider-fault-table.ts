import type { ProviderSettings } from '../../../src/models/index.ts';
import type { ModelScript } from '../../support/model-server.ts';
import { type ExpectedReply, usageOf } from './expected.ts';
import type { FaultScenario } from './fault-harness.ts';

/** What a provider does, and what is to come of it. */
export interface ProviderFault extends ExpectedReply {
	/** Completes "a provider that …". */
	what: string;
	/** How it answers, call by call. */
	scripts: readonly ModelScript[] | ((scene: FaultScenario) => readonly ModelScript[]);
	/** How often it is asked; once, where not said. */
	asked?: number;
	settings?: Partial<ProviderSettings>;
}

/** What a provider says of a failure: never shown, since it may hold keys and names. */
const saying = (status: number, headers: Record<string, string> = {}): ModelScript => [
	{ status, headers, body: JSON.stringify({ error: { message: 'sk-secret of org-4711', type: 'x' } }) },
];
const MEGABYTE = 'x'.repeat(1_000_000);
const PIECE = 'x'.repeat(10_000);

const BROKE_OFF = 'The connection to the model provider broke off before the answer was complete.';
const PROTOCOL = 'The model provider sent what is not part of its protocol.';
const EMPTY = 'The model gave an empty answer.';

const failed = (error: string, content = ''): ExpectedReply => ({ status: 'failed', content, error, usage: null });
const completed = (content = 'Fine.'): ExpectedReply => ({ status: 'completed', content, usage: usageOf(1) });
const FINE: ModelScript = [{ say: 'Fine.' }];

/** One event of an answer, as its bytes. */
const chunk = (content: object) => ({ raw: `data: ${JSON.stringify({ id: 'chatcmpl-1', ...content })}\n\n` });
const said = (content: string) => chunk({ choices: [{ index: 0, delta: { content } }] });
const finished = (usage?: object) => chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage });
const DONE = { raw: 'data: [DONE]\n\n' };

const REFUSALS: ProviderFault[] = [
	{
		what: 'refuses the key',
		scripts: [saying(401)],
		...failed("The model provider did not accept this server's key."),
	},
	{
		what: 'does not permit the request',
		scripts: [saying(403)],
		...failed("The model provider did not permit the request with this server's key."),
	},
	{
		what: 'does not know the model',
		scripts: [saying(404)],
		...failed('The model provider does not know the model.'),
	},
	{
		what: 'does not accept the request',
		scripts: [saying(400)],
		...failed('The model provider did not accept the request.'),
	},
	{ what: 'takes no request once', scripts: [saying(429), FINE], asked: 2, ...completed() },
	{
		what: 'takes no requests for a while that it names',
		scripts: [saying(429, { 'retry-after': '1' }), saying(429, { 'retry-after-ms': '20' }), saying(429)],
		asked: 3,
		...failed('The model provider takes no more requests for now.'),
	},
	{
		what: 'takes no requests for longer than a visitor waits',
		scripts: [saying(429, { 'retry-after': '60' })],
		...failed('The model provider takes no more requests for now.'),
	},
	{ what: 'fails once', scripts: [saying(500), FINE], asked: 2, ...completed() },
	{
		what: 'is overloaded once',
		scripts: [saying(503, { 'retry-after': '0' }), FINE],
		asked: 2,
		...completed(),
	},
	{
		what: 'fails each time',
		scripts: [saying(500), saying(500), saying(500)],
		asked: 3,
		...failed('The model provider failed with status 500.'),
	},
	{
		what: 'answers with another status each time',
		scripts: [saying(502), saying(429), saying(401)],
		asked: 3,
		...failed("The model provider did not accept this server's key."),
	},
];

const HANGS: ProviderFault[] = [
	{
		what: 'hangs before its headers',
		scripts: [[{ hang: true }]],
		settings: { first_token_timeout_ms: 1_000 },
		...failed('The model did not begin to answer within 1 second.'),
	},
	{
		what: 'hangs before its first word',
		scripts: [[{ raw: ': wait\n\n' }, { hang: true }]],
		settings: { first_token_timeout_ms: 1_000 },
		...failed('The model did not begin to answer within 1 second.'),
	},
	{
		what: 'hangs in the middle',
		scripts: [[{ say: 'Half an ' }, { hang: true }]],
		settings: { idle_timeout_ms: 1_000 },
		...failed('The model stopped in the middle of its answer: nothing came for 1 second.', 'Half an '),
	},
	{
		what: 'hangs while it thinks',
		scripts: [[{ think: 'Hm.' }, { hang: true }]],
		settings: { idle_timeout_ms: 1_000 },
		...failed('The model stopped in the middle of its answer: nothing came for 1 second.'),
	},
	{
		what: 'keeps the connection after its last word',
		scripts: [[{ say: 'Fine.' }, finished(), DONE, { hang: true }]],
		settings: { idle_timeout_ms: 1_000 },
		status: 'completed',
		content: 'Fine.',
		usage: null,
	},
];

const BREAKS: ProviderFault[] = [
	{ what: 'closes the connection once before it answers', scripts: [[{ die: true }], FINE], asked: 2, ...completed() },
	{
		what: 'resets the connection each time before it answers',
		scripts: [[{ reset: true }], [{ reset: true }], [{ reset: true }]],
		asked: 3,
		...failed(BROKE_OFF),
	},
	{
		what: 'closes the connection in the middle',
		scripts: [[{ say: 'Half an ' }, { die: true }]],
		...failed(BROKE_OFF, 'Half an '),
	},
	{
		what: 'resets the connection in the middle',
		scripts: (scene) => [[{ say: 'Half an ' }, { wait: scene.heard('Half an ') }, { reset: true }]],
		...failed(BROKE_OFF, 'Half an '),
	},
	{
		what: 'closes the connection in the middle of a line',
		scripts: [[{ say: 'Half an ' }, { raw: 'data: {"id":"chatcmpl-1","choices":[{"index":0,"del' }, { die: true }]],
		...failed(BROKE_OFF, 'Half an '),
	},
	{
		what: 'ends the stream in the middle of a line',
		scripts: [[{ say: 'Half an ' }, { raw: 'data: {"id":"chatcmpl-1","choices":[{"index":0,"del' }, { end: true }]],
		...failed(BROKE_OFF, 'Half an '),
	},
	{
		what: 'ends the stream without saying why',
		scripts: [[{ say: 'Half an ' }, { end: true }]],
		...failed(BROKE_OFF, 'Half an '),
	},
	{
		what: 'says that it is done without saying why',
		scripts: [[{ say: 'Half an ' }, DONE, { end: true }]],
		...failed(BROKE_OFF, 'Half an '),
	},
	{
		what: 'ends the stream without the last line of the protocol',
		scripts: [[{ say: 'Fine.' }, finished({ prompt_tokens: 11, completion_tokens: 7 }), { end: true }]],
		...completed(),
	},
];

const NONSENSE: ProviderFault[] = [
	{
		what: 'sends what is not JSON',
		scripts: [[{ say: 'Half an ' }, { raw: 'data: {"id": \n\n' }, { say: 'answer.' }]],
		...failed(PROTOCOL, 'Half an '),
	},
	{
		what: 'sends JSON of another shape',
		scripts: [[{ say: 'Half an ' }, { raw: 'data: {"choices": "none"}\n\n' }]],
		...failed(PROTOCOL, 'Half an '),
	},
	{
		what: 'sends text that is no text',
		scripts: [[{ say: 'Half an ' }, chunk({ choices: [{ index: 0, delta: { content: { a: 1 } } }] })]],
		...failed(PROTOCOL, 'Half an '),
	},
	{
		what: 'sends bytes that are no text',
		scripts: [
			[
				{ say: 'Half an ' },
				{ raw: Buffer.concat([Buffer.from('data: '), Buffer.from([0xff, 0xfe, 0, 0xc3, 0x0a, 0x0a])]) },
			],
		],
		...failed(PROTOCOL, 'Half an '),
	},
	{
		what: 'answers with bytes',
		scripts: [[{ raw: Buffer.alloc(5_000, 0xf7) }, { end: true }]],
		...failed(BROKE_OFF),
	},
	{
		what: 'answers with a page',
		scripts: [[{ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>\n\n<p>data: Hello' }]],
		...failed(BROKE_OFF),
	},
	{ what: 'answers with nothing', scripts: [[{ end: true }]], ...failed(BROKE_OFF) },
	{
		what: 'says nothing',
		scripts: [[{ finish: 'stop' }]],
		...failed(EMPTY),
		usage: usageOf(1),
	},
	{
		what: 'says only white space',
		scripts: [[{ say: ' \n' }, { say: '\t\u00a0\n' }]],
		...failed(EMPTY, ' \n\t\u00a0\n'),
		usage: usageOf(1),
	},
	{
		what: 'only thinks',
		scripts: [[{ think: 'Hm.' }]],
		...failed(EMPTY),
		usage: usageOf(1),
	},
	{
		what: 'reports an error in the middle',
		scripts: [[{ say: 'Half an ' }, { error: { message: 'sk-secret of org-4711', type: 'server_error' } }]],
		...failed('The model provider failed with status 500.', 'Half an '),
	},
	{
		what: 'reports in its stream once that it is overloaded',
		scripts: [[{ error: { message: 'sk-secret of org-4711', type: 'overloaded_error' } }], FINE],
		asked: 2,
		...completed(),
	},
];

const SIZES: ProviderFault[] = [
	{
		what: 'writes ten megabytes at once',
		scripts: [[{ say: 'Once. ' }, { say: MEGABYTE.repeat(10) }]],
		...failed('The answer of the model was too large.', 'Once. '),
	},
	{
		what: 'writes ten megabytes piece by piece',
		scripts: [[{ say: 'Once. ' }, ...Array<{ say: string }>(1_000).fill({ say: PIECE })]],
		...failed('The model wrote too much.', `Once. ${PIECE.repeat(20)}`.slice(0, 200_000)),
	},
	{
		what: 'stops at the length that it may write',
		scripts: [[{ say: 'Half an ' }, { finish: 'length' }]],
		...failed('The answer was cut off: it reached the length that the model may write.', 'Half an '),
		usage: usageOf(1),
	},
	{
		what: 'filters the answer',
		scripts: [[{ say: 'Half an ' }, { finish: 'content_filter' }]],
		...failed("The model provider's content filter ended the answer.", 'Half an '),
		usage: usageOf(1),
	},
];

const ODDITIES: ProviderFault[] = [
	{
		what: 'does not say what the answer cost',
		scripts: [[said('Fine.'), finished(), DONE, { end: true }]],
		...completed(),
		usage: null,
	},
	{
		what: 'says that the answer cost less than nothing',
		scripts: [[said('Fine.'), finished({ prompt_tokens: -5, completion_tokens: 7.6 }), DONE, { end: true }]],
		...completed(),
		usage: { input_tokens: 0, output_tokens: 8 },
	},
	{
		what: 'says that the answer cost more than can be counted',
		scripts: [[said('Fine.'), finished({ prompt_tokens: 1e300, completion_tokens: 2 ** 60 }), DONE, { end: true }]],
		...completed(),
		usage: { input_tokens: 100_000_000, output_tokens: 100_000_000 },
	},
	{
		what: 'cuts a character in two',
		scripts: [[said('Fine \ud83d'), said('\ude42.'), { finish: 'stop' }]],
		...completed('Fine 🙂.'),
	},
	{
		what: 'writes halves of characters',
		scripts: [[said('\ude42 Fine \ud83d'), said(' and \ud83d'), { finish: 'stop' }]],
		...completed('\ufffd Fine \ufffd and \ufffd'),
	},
	{
		what: 'writes control characters',
		scripts: [[said('Fi\u0000ne'), said('\u0000'), said('\u0007.'), { finish: 'stop' }]],
		...completed('Fi\u0000ne\u0000\u0007.'),
	},
	{
		what: 'tells its text in pieces without text',
		scripts: [[said(''), said('Fine'), said(''), said('.'), { finish: 'stop' }]],
		...completed(),
	},
];

/** The fault table of providers: each row is played once with the reply whole, and once with the reply streamed. */
export const PROVIDER_FAULTS: readonly ProviderFault[] = [
	...REFUSALS,
	...HANGS,
	...BREAKS,
	...NONSENSE,
	...SIZES,
	...ODDITIES,
];
