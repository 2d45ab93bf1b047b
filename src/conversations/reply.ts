import { AppError, type Log, messageOf, pause } from '../base/index.ts';
import type { Citation, SearchHit, SearchResult } from '../contract/index.ts';
import type { Knowledge } from '../knowledge/index.ts';
import { type ChatTurn, citedIndexes, type ModelEvent, type Models, type Passage } from '../models/index.ts';
import type { AssistantRecord, KnowledgeBaseRecord, MessageRecord, Store } from '../store/index.ts';
import type { ReplyOutcome, Turn } from './turn.ts';

export interface ReplyDependencies {
	store: Pick<Store, 'get' | 'messagesBefore'>;
	knowledge: Pick<Knowledge, 'search'>;
	models: Models;
	log: Log;
}

/** Earlier messages that a model is given at most. */
const HISTORY = 20;
/** Characters of a reply at most: a model that does not stop is stopped. */
const MAX_REPLY_CHARS = 200_000;
const SEARCH_AGAIN_MS = 500;

/** Aborting a reply with this as the reason keeps the text so far. */
export const STOPPED = Symbol('stopped');

/**
 * Writes the reply to a turn: retrieve, ask the model, hand on its text piece by piece.
 * @param onText is given each piece as it comes
 * @param signal its reason tells why the reply ends early: STOPPED, or an error
 * @returns how the reply ended, whatever happened; never throws
 */
export async function writeReply(
	deps: ReplyDependencies,
	turn: Turn,
	onText: (text: string) => void,
	signal: AbortSignal,
): Promise<ReplyOutcome> {
	const written: Written = { text: '', usage: null, passages: [] };
	const end = (status: ReplyOutcome['status'], error: ReplyOutcome['error'] = null): ReplyOutcome => ({
		content: written.text,
		status,
		citations: citationsIn(written.text, written.passages),
		usage: written.usage,
		error,
	});
	try {
		const assistant = await deps.store.get('assistants', turn.conversation.assistant_id);
		if (!assistant) throw new AppError('model_error', 'The assistant of this conversation does not exist any more.');
		const { name, model } = deps.models.resolve(turn.reply.model);
		const [{ hits, confidence }, history] = await Promise.all([
			retrieve(deps, assistant, turn.question, signal),
			earlierTurns(deps.store, turn.question),
		]);
		written.passages = hits.map(passageOf);
		const request = {
			model: name,
			instructions: assistant.master_prompt,
			history,
			question: turn.question.content,
			passages: written.passages,
			confidence,
		};
		for await (const event of untilAborted(model.stream(request, signal), signal)) {
			take(written, event, onText);
			if (written.text.length > MAX_REPLY_CHARS) throw new AppError('model_error', 'The model wrote too much.');
		}
		if (written.text === '') throw new AppError('model_error', 'The model gave an empty answer.');
		return end('completed');
	} catch (error) {
		if (signal.aborted && signal.reason === STOPPED) return end('stopped');
		deps.log.warn({ message: turn.reply.id, error: messageOf(error) }, 'reply failed');
		return end('failed', shownError(signal.aborted ? signal.reason : error));
	}
}

/** The events of a stream until the signal aborts; then its reason, whether or not the stream itself takes notice. */
async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
	const iterator = stream[Symbol.asyncIterator]();
	let abort = () => {};
	const aborted = new Promise<never>((_, reject) => {
		abort = () => reject(signal.reason);
		signal.addEventListener('abort', abort, { once: true });
	});
	aborted.catch(() => {});
	let ended = false;
	try {
		while (true) {
			if (signal.aborted) throw signal.reason;
			const next = await Promise.race([iterator.next(), aborted]);
			ended = next.done === true;
			if (next.done) return;
			yield next.value;
		}
	} finally {
		signal.removeEventListener('abort', abort);
		// Not awaited: a stream that ignores the signal may ignore this as well.
		if (!ended) iterator.return?.()?.then(undefined, () => {});
	}
}

interface Written {
	text: string;
	usage: ReplyOutcome['usage'];
	passages: Passage[];
}

function take(written: Written, event: ModelEvent, onText: (text: string) => void): void {
	if (event.type === 'delta') {
		written.text += event.text;
		onText(event.text);
	} else {
		written.usage = { input_tokens: event.input_tokens, output_tokens: event.output_tokens };
	}
}

/** A failure as the message shows it; a defect of ours shows no internals. */
function shownError(error: unknown): { code: string; message: string } {
	if (error instanceof AppError && error.code === 'model_error') return { code: error.code, message: error.message };
	return { code: 'model_error', message: 'The model failed to answer.' };
}

async function retrieve(
	{ store, knowledge }: ReplyDependencies,
	assistant: AssistantRecord,
	question: MessageRecord,
	signal: AbortSignal,
): Promise<SearchResult> {
	const found = await Promise.all(assistant.knowledge_base_ids.map((id) => store.get('knowledge_bases', id)));
	const knowledgeBases = found.filter((record): record is KnowledgeBaseRecord => record !== undefined);
	for (;;) {
		try {
			return await knowledge.search(knowledgeBases, question.content, { ...assistant.rag_settings, signal });
		} catch (error) {
			// Busy is no answer to a visitor: the reply has its own time limit, and asks again until then.
			if (!(error instanceof AppError) || error.code !== 'unavailable' || signal.aborted) throw error;
			await pause(SEARCH_AGAIN_MS, signal);
			if (signal.aborted) throw signal.reason;
		}
	}
}

async function earlierTurns(store: Pick<Store, 'messagesBefore'>, question: MessageRecord): Promise<ChatTurn[]> {
	const messages = await store.messagesBefore(question.conversation_id, question.seq, HISTORY);
	return messages
		.filter(({ content, status }) => content !== '' && (status === 'completed' || status === 'stopped'))
		.map(({ role, content }) => ({ role, content }));
}

function passageOf(hit: SearchHit, index: number): Passage {
	const { document_id, title, url, page, heading_path, text, score } = hit;
	return { index: index + 1, document_id, title, url, page, heading_path, text, score };
}

/** The passages that the text cites, in order of first mention. */
function citationsIn(text: string, passages: readonly Passage[]): Citation[] {
	return citedIndexes(text, passages).flatMap((index) => {
		const passage = passages[index - 1];
		if (!passage) return [];
		const { document_id, title, url, page, text: quoted, score } = passage;
		return [{ index, document_id, title, url, page, text: quoted, score }];
	});
}
