import { ActorSystem } from '../../src/actors/index.ts';
import { createLog, encodeServerSentEvent, systemClock } from '../../src/base/index.ts';
import { bodyValidator, operations } from '../../src/contract/index.ts';
import { Router } from '../../src/http/index.ts';
import { createProviders } from '../../src/models/index.ts';
import type { ResponseReceiver } from '../../src/net/index.ts';
import { type Block, chunkDocument } from '../../src/parsing/index.ts';
import { countTerms, project } from '../../src/retrieval/index.ts';
import { trainBasis } from '../../src/retrieval/training/index.ts';
import { analyse, detectLanguage, queryWords } from '../../src/text/index.ts';
import { Corpus } from '../search/corpus.ts';
import { providerOf, QUESTION, recordedAnswer } from './recorded-answer.ts';

/** Repetitions in one sample, for steps that are shorter than the clock's resolution. */
const REPEATS = 100;
const MAILBOX_ACTORS = 64;
const TOKENS = 1_000;

/** Measures one step. `work` repeats it `repeats` times. */
export interface Step {
	name: string;
	repeats: number;
	work: () => unknown;
	remark?: string;
}

/** The actors of the mailbox step. */
export type CountingActors = ActorSystem<number, number>;

export function createCountingActors(): CountingActors {
	return new ActorSystem<number, number>({
		load: () => ({ handle: (message) => message + 1 }),
		reportFailure: (_, thrown) => {
			throw thrown;
		},
	});
}

/** A document, and its text as sentences. */
interface Sample {
	page: ReturnType<Corpus['document']>;
	text: string;
	/** Its size, for a remark. */
	kilobytes: string;
}

/** The steps, in the order in which they are measured. */
export function createSteps(actors: CountingActors): Step[] {
	const corpus = new Corpus(1);
	const page = corpus.document(12);
	const text = page.chunks.map((chunk) => sentences(chunk.text)).join('\n\n');
	const sample: Sample = { page, text, kilobytes: `${(text.length / 1000).toFixed(0)} kB of text` };
	return [
		validation(),
		mailbox(actors),
		...routing(),
		chunking(sample),
		...analysis(sample, corpus.question()),
		embedding(corpus),
		...answers(),
		frames(),
	];
}

function validation(): Step {
	const check = bodyValidator(operations.sendMessage.body);
	const body = {
		deployment_id: 'dep_00000000000000000000000000000000',
		content: 'How long does the warranty of my bicycle last?',
		stream: true,
		metadata: { page: '/bicycles', cart: 3 },
	};
	return {
		name: 'validate a POST of a message',
		repeats: REPEATS,
		work: () => {
			for (let i = 0; i < REPEATS; i++) check(body);
		},
	};
}

/** Time from `ask` to the actor's result, while other calls wait for theirs. */
function mailbox(actors: CountingActors): Step {
	const ids = Array.from({ length: MAILBOX_ACTORS }, (_, n) => `actor_${n}`);
	return {
		name: "a mailbox's way to a turn and back",
		repeats: MAILBOX_ACTORS,
		work: () => Promise.all(ids.map((id, n) => actors.ask(id, n))),
	};
}

function routing(): Step[] {
	const handle = () => {
		throw new Error('The handler must not be called.');
	};
	const router = new Router(Object.values(operations).map(({ method, path }) => ({ method, path, handle })));
	const find = (name: string, path: string): Step => ({
		name,
		repeats: REPEATS,
		work: () => {
			for (let i = 0; i < REPEATS; i++) router.find(path);
		},
		remark: `among ${Object.keys(operations).length} operations`,
	});
	const knowledgeBase = 'kb_00000000000000000000000000000000';
	const document = 'doc_00000000000000000000000000000000';
	return [
		find('route a path', '/api/v1/widget/config'),
		find('route a path with two ids', `/api/v1/knowledge-bases/${knowledgeBase}/documents/${document}/chunks`),
	];
}

function chunking({ page, text, kilobytes }: Sample): Step {
	const blocks: Block[] = text.split('\n\n').flatMap((body, n): Block[] => [
		{ kind: 'heading', level: 2, text: `Part ${n}`, page: null },
		{ kind: 'paragraph', text: body, page: null },
	]);
	return {
		name: 'chunk a document',
		repeats: 1,
		work: () => chunkDocument({ title: page.title, language: 'en', blocks }),
		remark: `${kilobytes}, its terms included`,
	};
}

function analysis({ text, kilobytes }: Sample, question: string): Step[] {
	return [
		{ name: 'analyse a text', repeats: 1, work: () => analyse(text, 'en'), remark: `${kilobytes}: words and stems` },
		{ name: 'tell the language of a text', repeats: 1, work: () => detectLanguage(text), remark: kilobytes },
		{ name: 'analyse a question', repeats: 1, work: () => queryWords(question, ['en']) },
	];
}

function embedding(corpus: Corpus): Step {
	const chunks = Array.from({ length: 50 }, () => corpus.document(10)).flatMap(({ title_terms, chunks }) =>
		chunks.map(({ body_terms }) => ({ title_terms, body_terms })),
	);
	const basis = trainBasis(chunks);
	const question = { title_terms: '', body_terms: analyse(corpus.question(), 'en').join(' ') };
	return {
		name: 'embed a question',
		repeats: 1,
		work: () => project(basis, countTerms(question)),
		remark: `${basis.dimensions} dimensions, trained on ${chunks.length} chunks`,
	};
}

/** Reads providers' streams, from network bytes to the deltas of the reply. */
function answers(): Step[] {
	const log = createLog('silent');
	return (['openai-compatible', 'anthropic'] as const).map((type): Step => {
		const body = Buffer.from(recordedAnswer(type, TOKENS));
		const stream = (_: unknown, receiver: ResponseReceiver) => {
			setImmediate(() => {
				receiver.onHead(200, {});
				receiver.onBytes(body);
				receiver.onEnd(null);
			});
			return { abort: () => {} };
		};
		const fetch = () => Promise.reject(new Error('Only streams are read.'));
		const serviceClient = () => ({ fetch, stream, [Symbol.asyncDispose]: async () => {} });
		const [provider] = createProviders([providerOf(type)], { network: { serviceClient }, clock: systemClock, log });
		return {
			name: `read an answer (${type})`,
			repeats: 1,
			work: async () => {
				let text = '';
				await provider?.chat.stream(QUESTION, new AbortController().signal, (event) => {
					if (event.type === 'delta') text += event.text;
				});
				if (text.split(' ').length !== TOKENS + 1) throw new Error('The answer is incomplete.');
			},
			remark: `${TOKENS} tokens, ${(body.length / 1000).toFixed(0)} kB`,
		};
	});
}

function frames(): Step {
	const data = JSON.stringify({
		type: 'message.delta',
		message_id: 'msg_00000000000000000000000000000000',
		index: 0,
		delta: ' warranty',
	});
	return {
		name: 'write an SSE frame',
		repeats: REPEATS,
		work: () => {
			for (let i = 0; i < REPEATS; i++)
				Buffer.byteLength(encodeServerSentEvent({ id: `1234.${i}`, event: 'message.delta', data }));
		},
	};
}

/** Words with full stops between them, for the chunker. */
function sentences(words: string): string {
	return words.replace(/((?:\S+ ){12}\S+) (\S)/g, (_, sentence: string, next: string) => `${sentence}. ${next}`);
}
