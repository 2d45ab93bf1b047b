import Database from 'better-sqlite3';
import type { Message } from '../../src/contract/index.ts';
import { databaseFile } from '../../src/store/index.ts';

/** An event of the log with its conversation's deployment and assistant. */
export interface RecordedEvent {
	type: string;
	data: string;
	created_at: number;
	deployment_id: string;
	assistant_id: string;
}

/** The events of conversations in a server's log, each once, read from its database. */
export function recordedEvents(dataDir: string): RecordedEvent[] {
	const db = new Database(databaseFile(dataDir), { readonly: true });
	try {
		return db
			.prepare(
				`SELECT type, data, events.created_at, deployment_id, assistant_id FROM events
				 JOIN conversations ON conversations.id = events.subject WHERE stream NOT LIKE 'conv%'`,
			)
			.all() as RecordedEvent[];
	} finally {
		db.close();
	}
}

export interface Span {
	from: number;
	to: number;
	deployment_id?: string;
	assistant_id?: string;
}

type Rated = { rated_at: number; before: string | null; after: string | null };

/** The figures of a span, counted from all events at once, without buckets and histograms. */
export function recount(events: readonly RecordedEvent[], { from, to, deployment_id, assistant_id }: Span) {
	const chosen = events.filter(
		(event) =>
			(deployment_id === undefined || event.deployment_id === deployment_id) &&
			(assistant_id === undefined || event.assistant_id === assistant_id),
	);
	const inSpan = (at: number) => at >= from && at < to;
	const ofType = (type: string) => chosen.filter((event) => event.type === type);
	const within = (type: string) => ofType(type).filter(({ created_at }) => inSpan(created_at));
	const messages = within('message.created').map(({ data }) => JSON.parse(data) as Message);
	const by = (author: string) => messages.filter((message) => message.author.type === author);
	const replies = by('model');
	const outcome = (reply: Message) => reply.answered_by ?? (reply.status === 'stopped' ? 'stopped' : 'failed');
	const answers = (name: string) => replies.filter((reply) => outcome(reply) === name).length;
	const ratings = ofType('message.rated')
		.map(({ data }) => JSON.parse(data) as Rated)
		.filter(({ rated_at }) => inSpan(rated_at));
	const rated = (name: string) =>
		ratings.filter(({ after }) => after === name).length - ratings.filter(({ before }) => before === name).length;
	const tokens = (name: 'input_tokens' | 'output_tokens', of: Message[]) =>
		of.reduce((sum, { usage }) => sum + (usage?.[name] ?? 0), 0);
	const models = [...new Set(replies.map(({ model }) => model as string))].map((model) => {
		const own = replies.filter((reply) => reply.model === model);
		const [input_tokens, output_tokens] = [tokens('input_tokens', own), tokens('output_tokens', own)];
		return { model, replies: own.length, input_tokens, output_tokens };
	});
	const cited = replies.flatMap(({ citations }) => [...new Set(citations.map((each) => each.document_id))]);
	return {
		figures: {
			conversations: within('conversation.created').length,
			takeovers: within('conversation.taken_over').length,
			messages: { visitor: by('visitor').length, model: replies.length, human: by('human').length },
			answers: {
				...{ documents: answers('documents'), tools: answers('tools'), model: answers('model'), none: answers('none') },
				human: by('visitor').filter(({ answered_by }) => answered_by === 'human').length,
				...{ failed: answers('failed'), stopped: answers('stopped') },
			},
			feedback: { up: rated('up'), down: rated('down') },
			tokens: { input: tokens('input_tokens', replies), output: tokens('output_tokens', replies) },
		},
		firstTokens: sorted(replies.map(({ first_token_ms }) => first_token_ms)),
		durations: sorted(replies.filter(({ status }) => status === 'completed').map(({ duration_ms }) => duration_ms)),
		models,
		citations: Object.fromEntries([...new Set(cited)].map((id) => [id, cited.filter((each) => each === id).length])),
	};
}

function sorted(values: Array<number | null>): number[] {
	return values.filter((value) => value !== null).sort((a, b) => a - b);
}

/** The value at a share of sorted values; null where there is none. */
export function percentile(values: readonly number[], share: number): number | null {
	return values[Math.ceil(values.length * share) - 1] ?? null;
}
