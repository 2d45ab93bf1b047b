import { ID_PREFIXES } from '../../src/base/index.ts';
import type { Message } from '../../src/contract/index.ts';
import { Metrics } from '../../src/metrics/index.ts';
import type { Commit, StoredEvent } from '../../src/store/index.ts';
import { type Spread, spreadOf } from '../load/spread.ts';

const MESSAGES = 20_000;
const ROUNDS = 7;

/** The events of a commit in the workspace's stream and in that of the conversation. */
function eventsOf(types: readonly string[], message: Partial<Message>): StoredEvent[] {
	return types.flatMap((type, at) =>
		[`${ID_PREFIXES.workspace}1`, `${ID_PREFIXES.conversation}1`].map(
			(stream) =>
				({ seq: at, id: `event_${at}`, type, stream, data: message, created_at: 0 }) as unknown as StoredEvent,
		),
	);
}

/** What the metrics do for a streamed message: two commits with their events, a search, and the end of the request. */
export function microsToCountMessage(): Spread {
	const { http, work, replies } = countingMetrics();
	const question = eventsOf(['conversation.created', 'message.created'], {
		author: { type: 'visitor' },
	} as Partial<Message>);
	const reply = eventsOf(['message.created', 'message.completed'], {
		author: { type: 'model' },
		model: 'scripted/model',
		status: 'completed',
		answered_by: 'model',
		usage: { input_tokens: 400, output_tokens: 40 },
		first_token_ms: 12,
		duration_ms: 40,
	} as Partial<Message>);
	const request = { method: 'POST', route: '/api/v1/messages', startedAt: 0 } as Parameters<
		typeof http.onExchangeEnd
	>[0];
	const response = { events: null } as unknown as Parameters<typeof http.onExchangeEnd>[1];
	const rounds: number[] = [];
	for (let round = 0; round < ROUNDS; round++) {
		const startedAt = performance.now();
		for (let at = 0; at < MESSAGES; at++) {
			for (const events of [question, reply]) {
				work.commits.onBatch(1);
				work.commits.onCommit(1.5);
				replies(events);
			}
			work.onSearch(4);
			http.onExchangeEnd(request, response, 4_000, 'completed');
		}
		rounds.push(((performance.now() - startedAt) * 1_000) / MESSAGES);
	}
	// The first rounds are those of a cold program.
	return spreadOf(rounds.slice(2));
}

/** Metrics as a server has them, and the function that takes the events of a commit. */
function countingMetrics(): Pick<Metrics, 'http' | 'work'> & { replies: (events: StoredEvent[]) => void } {
	const metrics = new Metrics('bench');
	let commits: ((commit: Commit) => void) | undefined;
	metrics.observe({
		store: {
			onCommits(listener: (commit: Commit) => void) {
				commits = listener;
				return () => {};
			},
		},
	} as unknown as Parameters<Metrics['observe']>[0]);
	const onCommit = commits;
	if (onCommit === undefined) throw new Error('The metrics do not follow the commits.');
	return { http: metrics.http, work: metrics.work, replies: (events) => onCommit({ events }) };
}
