import { type Static, Type } from 'typebox';
import { messageExample, replyExample, widgetMessageExample, widgetReplyExample } from './message-examples.ts';
import { type OperationTable, withKey } from './operation.ts';
import {
	AnyObject,
	Id,
	NullableInteger,
	NullableObject,
	NullableOneOf,
	NullableText,
	NullableTimestamp,
	OneOf,
	PageQueryWith,
	Strict,
	Timestamp,
} from './shapes.ts';
import { MultilineText, NullableMultilineText } from './text-shapes.ts';

/** A citation as visitors see it. */
export const WidgetCitation = Type.Object({
	index: Type.Integer({ description: 'The number of the citation in the text: [1].' }),
	document_id: Type.String(),
	title: Type.String({ examples: ['Warranty and repair'] }),
	url: NullableText(),
	page: NullableInteger(),
	text: Type.String({ examples: ['The warranty lasts three years.'] }),
	score: Type.Number(),
});
export type WidgetCitation = Static<typeof WidgetCitation>;

export const Citation = Type.Object({
	...WidgetCitation.properties,
	knowledge_base_id: NullableText({
		description: 'The knowledge base of the document. Null in messages from before this field.',
	}),
	chunk_id: NullableText({
		description:
			'The chunk of the document that was cited, as searches and the list of chunks name it. After the document was indexed again it may have another text. Null in messages from before this field.',
	}),
});
export type Citation = Static<typeof Citation>;

export const ToolCall = Type.Object({
	id: Type.String({ examples: ['call_1'] }),
	tool_id: Type.String(),
	name: Type.String({ examples: ['order_status'] }),
	arguments: Type.Unknown({ examples: [{ order: '4711' }] }),
	result: Type.Unknown({ examples: [{ state: 'shipped' }] }),
	status: Type.String({
		description:
			'`running`, `completed`, `failed`, or `stopped`: ended before its result arrived, so it may or may not have taken effect.',
		examples: ['completed'],
	}),
	duration_ms: NullableInteger(),
});
export type ToolCall = Static<typeof ToolCall>;

export const Usage = Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() });
export type Usage = Static<typeof Usage>;

const author = Type.Object({ type: OneOf(['visitor', 'model', 'human']), name: NullableText() });

/** What an answer is from. */
export const ANSWERED_BY = ['documents', 'tools', 'model', 'none', 'human'] as const;

/** Why a reply could not be written. */
export const MessageError = Type.Object({
	code: Type.String({ examples: ['model_error'] }),
	message: Type.String({ examples: ['The model failed to answer.'] }),
});

const visibleFields = {
	id: Type.String(),
	conversation_id: Type.String(),
	role: OneOf(['user', 'assistant']),
	author,
	content: Type.String(),
	status: OneOf(['completed', 'in_progress', 'stopped', 'failed']),
	citations: Type.Array(WidgetCitation),
	error: NullableObject(MessageError),
	feedback: NullableOneOf(['up', 'down']),
	created_at: Timestamp,
	completed_at: NullableTimestamp,
};

export const Message = Type.Object(
	{
		...visibleFields,
		citations: Type.Array(Citation),
		feedback_comment: NullableText({ description: 'The comment with the rating.' }),
		model: NullableText(),
		tool_calls: Type.Array(ToolCall),
		usage: NullableObject(Usage),
		answered_by: NullableOneOf(ANSWERED_BY, {
			description:
				'What the answer is from: cited `documents`, the result of a `tools` call, the `model` alone, or a `human`. `none`: the reply says that there is no answer, or nothing was found. Of a visitor’s message: `human` where a person handles the conversation. Null for other messages, and for a reply that failed, or whose search failed, or that was stopped before its first word.',
		}),
		first_token_ms: NullableInteger({
			description:
				'Milliseconds from the start of the reply until its first text. The wait behind earlier messages is not in it.',
		}),
		duration_ms: NullableInteger({ description: 'Milliseconds from the start of the reply until its end.' }),
		cost_micros: NullableInteger({
			description:
				'What the reply has cost, in millionths of the unit of the server’s currency, when it has ended. Null if the model has no price, or has not reported its usage.',
		}),
	},
	{ examples: [messageExample] },
);
export type Message = Static<typeof Message>;

/** A tool call as visitors see it. */
export const WidgetToolCall = Type.Object({
	id: ToolCall.properties.id,
	name: ToolCall.properties.name,
	status: ToolCall.properties.status,
});

/** A message as visitors see it: without model, usage, and the arguments and results of tools. */
export const WidgetMessage = Type.Object(
	{
		...visibleFields,
		tool_calls: Type.Array(WidgetToolCall),
	},
	{ examples: [widgetMessageExample] },
);
export type WidgetToolCall = Static<typeof WidgetToolCall>;
export type WidgetMessage = Static<typeof WidgetMessage>;

/** The query of a list of messages: oldest first by default. */
export const MessageListQuery = PageQueryWith({});

const sendFields = {
	deployment_id: Id('The deployment whose assistant answers.'),
	conversation_id: Type.Optional(Id('Continue this conversation; absent: start one.')),
	content: MultilineText({ maxLength: 32_000, examples: ['How long is the warranty?'] }),
	stream: Type.Optional(Type.Boolean({ description: 'An SSE stream of the reply.' })),
	metadata: Type.Optional(
		AnyObject({
			description: 'Metadata of the conversation, at its start only. At most 16 KiB.',
		}),
	),
};

export const SendMessage = Strict(sendFields);
export type SendMessage = Static<typeof SendMessage>;

export const Feedback = Strict({
	rating: NullableOneOf(['up', 'down'], { description: 'null removes a rating.' }),
	comment: Type.Optional(NullableMultilineText({ maxLength: 2000 })),
});
export type Feedback = Static<typeof Feedback>;

export const MessageReply = Type.Object({ ...Message.properties, user_message: Message }, { examples: [replyExample] });
export type MessageReply = Static<typeof MessageReply>;
export const WidgetMessageReply = Type.Object(
	{ ...WidgetMessage.properties, user_message: WidgetMessage },
	{ examples: [widgetReplyExample] },
);
export type WidgetMessageReply = Static<typeof WidgetMessageReply>;

/** Request bodies for the documentation. */
export const messageBodies = {
	'Start a conversation': {
		deployment_id: 'dep_06gzhmza00001mjww6bbdevcx5ss2c8f',
		content: 'How many days do I have to return an order?',
		metadata: { page: '/orders/4711' },
	},
	'Continue, streamed': {
		deployment_id: 'dep_06gzhmza00001mjww6bbdevcx5ss2c8f',
		conversation_id: 'conv_06gzhmza00001mjww6bbdevcx5ss2c8f',
		content: 'And without the box?',
		stream: true,
	},
};

/** Messages. */
export const messageOperations = {
	sendMessage: {
		unaudited: true,
		method: 'POST',
		path: '/api/v1/messages',
		summary: 'Send a message and get the reply',
		description:
			'One API key or session may have 20,000 open event streams and replies. Beyond that the response is a 429, and the message is not stored.',
		tag: 'Messages',
		access: withKey('messages:write'),
		body: SendMessage,
		examples: messageBodies,
		errors: ['assistant_archived', 'conversation_archived', 'usage_limit_reached', 'conversation_busy', 'model_error'],
		status: 201,
		result: MessageReply,
		streams: 'asked',
	},
	rateMessage: {
		unaudited: true,
		method: 'POST',
		path: '/api/v1/messages/{id}/feedback',
		summary: "Rate an assistant's message",
		tag: 'Messages',
		access: withKey('messages:write'),
		body: Feedback,
		result: Message,
	},
} as const satisfies OperationTable;
