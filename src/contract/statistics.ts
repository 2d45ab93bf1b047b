import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { Id, NullableInteger, NullableText, OneOf, PageOf, PageQuery, Strict, Timestamp } from './shapes.ts';

const Count = (description?: string) => Type.Integer(description === undefined ? {} : { description });

const percentiles = (description: string) =>
	Type.Object({ median: NullableInteger(), p95: NullableInteger() }, { description });

const figures = {
	conversations: Count('Conversations that began.'),
	takeovers: Count('Conversations that a person took over from the model, each takeover counted.'),
	messages: Type.Object({ visitor: Count(), model: Count(), human: Count() }, { description: 'Messages by author.' }),
	answers: Type.Object(
		{
			documents: Count('The reply cites documents.'),
			tools: Count('The reply has results of tools and cites no document.'),
			model: Count('The model answered by itself.'),
			none: Count('The reply says that there is no answer, or nothing was found.'),
			human: Count('The message waits for a person, who handles the conversation.'),
			failed: Count('The reply failed, or its search did.'),
			stopped: Count('The reply was stopped before its first word.'),
		},
		{
			description:
				'What became of visitors’ messages, by the time at which the reply ended. A reply that failed and was written again counts once for each ending.',
		},
	),
	feedback: Type.Object(
		{ up: Count(), down: Count() },
		{ description: 'Present ratings, by the time of the rated message.' },
	),
	first_token_ms: percentiles(
		'Milliseconds until the first text of a reply. Null without a reply. Percentiles are exact to 5 percent.',
	),
	duration_ms: percentiles('Milliseconds until the end of a completed reply. Null without a reply.'),
	tokens: Type.Object({ input: Count(), output: Count() }),
};

export const StatisticsFigures = Type.Object(figures);
export type StatisticsFigures = Static<typeof StatisticsFigures>;

export const StatisticsModel = Type.Object({
	model: Type.String({ examples: ['builtin/extractive'] }),
	replies: Count(),
	input_tokens: Count(),
	output_tokens: Count(),
});
export type StatisticsModel = Static<typeof StatisticsModel>;

export const StatisticsReport = Type.Object({
	from: Timestamp,
	to: Timestamp,
	interval: OneOf(['hour', 'day']),
	is_current: Type.Boolean({
		description: 'False if the latest events are not counted yet: after an update of the server, or while writes fail.',
	}),
	total: StatisticsFigures,
	before: StatisticsFigures,
	buckets: Type.Array(Type.Object({ start: Timestamp, ...figures })),
	models: Type.Array(StatisticsModel),
	top_documents: Type.Array(
		Type.Object({
			document_id: Type.String(),
			knowledge_base_id: NullableText({ description: 'Null if the document was removed.' }),
			title: NullableText({ examples: ['Shipping.pdf'] }),
			citations: Count('Replies that cite it.'),
		}),
	),
	uncited_documents: Type.Object(
		{
			total: Count(),
			data: Type.Array(
				Type.Object({
					document_id: Type.String(),
					knowledge_base_id: Type.String(),
					title: Type.String({ examples: ['Opening hours.md'] }),
					created_at: Timestamp,
				}),
			),
		},
		{ description: 'Indexed documents that no reply has ever cited, the oldest first.' },
	),
});
export type StatisticsReport = Static<typeof StatisticsReport>;

export const StatisticsQuery = Strict({
	from: Type.Optional(Type.String({ format: 'date-time', description: 'Default: 30 days, or 24 hours, before `to`.' })),
	to: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now.' })),
	interval: Type.Optional(OneOf(['hour', 'day'], { description: 'Default: `day`.' })),
	assistant_id: Type.Optional(Id('Only conversations with this assistant.')),
	deployment_id: Type.Optional(Id('Only conversations of this deployment.')),
});
export type StatisticsQuery = Static<typeof StatisticsQuery>;

/** A question whose reply says that there is no answer. */
const UnansweredQuestion = Type.Object({
	message_id: Type.String({ description: 'That reply.' }),
	conversation_id: Type.String(),
	question: Type.String({ examples: ['Do you deliver to Norway?'] }),
	asked_at: Timestamp,
});

const groupStatus = OneOf(['open', 'resolved', 'dismissed']);

/** Questions without an answer that ask about the same. */
export const UnansweredGroup = Type.Object({
	id: Type.String(),
	status: groupStatus,
	question: Type.String({ description: 'The newest of its questions.', examples: ['Do you deliver to Norway?'] }),
	count: Count('Its questions.'),
	first_at: Timestamp,
	last_at: Timestamp,
	examples: Type.Array(UnansweredQuestion, { description: 'Its newest questions, at most five.' }),
	document_id: NullableText({ description: 'The document that answers it, if one was named.' }),
	resolved_at: NullableText({ format: 'date-time', description: 'When it was resolved or dismissed.' }),
});
export type UnansweredGroup = Static<typeof UnansweredGroup>;

const { limit, cursor } = PageQuery.properties;
/** The order of groups is fixed. */
export const UnansweredQuery = Strict({
	status: Type.Optional(OneOf(['open', 'resolved', 'dismissed'], { description: 'Default: `open`.' })),
	assistant_id: Type.Optional(Id('Only questions to this assistant.')),
	limit,
	cursor,
});
export type UnansweredQuery = Static<typeof UnansweredQuery>;

export const UnansweredResolution = Strict({
	document_id: Type.Optional(Id('The document that answers the questions.')),
});

/** Statistics. */
export const statisticsOperations = {
	getStatistics: {
		method: 'GET',
		path: '/api/v1/stats',
		summary: 'Get the figures of a time range',
		description:
			'Hours and days are those of UTC: the range is extended to whole ones, and `from` and `to` of the response are its real ends. At most 400 days, or 192 hours; hours are kept for 60 days. `total` is the whole range and `before` the range of the same length before it. The figures keep counting conversations that are erased later.',
		tag: 'Statistics',
		access: withKey('conversations:read'),
		query: StatisticsQuery,
		result: StatisticsReport,
	},
	listUnanswered: {
		method: 'GET',
		path: '/api/v1/stats/unanswered',
		summary: 'List the questions without an answer, grouped',
		description:
			'Questions whose reply says that there is no answer, the most frequent first. Questions with most of their words in common are one group. The newest 2,000 questions of a workspace are kept, and are erased with their conversation. A group that gets a question while a client reads the pages may be on two of them or on none.',
		tag: 'Statistics',
		access: withKey('conversations:read'),
		query: UnansweredQuery,
		result: PageOf(UnansweredGroup),
	},
	resolveUnanswered: {
		method: 'POST',
		path: '/api/v1/stats/unanswered/{id}/resolve',
		summary: 'Mark a group of questions as answered',
		description: 'A later question of the same kind that still has no answer begins a new group.',
		tag: 'Statistics',
		access: withKey('conversations:write'),
		body: UnansweredResolution,
		result: UnansweredGroup,
	},
	dismissUnanswered: {
		method: 'POST',
		path: '/api/v1/stats/unanswered/{id}/dismiss',
		summary: 'Dismiss a group of questions',
		description: 'Later questions of the same kind are dismissed with it.',
		tag: 'Statistics',
		access: withKey('conversations:write'),
		result: UnansweredGroup,
	},
} as const satisfies OperationTable;
