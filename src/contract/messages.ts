import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import {
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

export const Citation = Type.Object({
	index: Type.Integer({ description: 'The number in the text: [1].' }),
	document_id: Type.String(),
	title: Type.String(),
	url: NullableText(),
	page: NullableInteger(),
	text: Type.String(),
	score: Type.Number(),
});
export type Citation = Static<typeof Citation>;

export const ToolCall = Type.Object({
	id: Type.String(),
	tool_id: Type.String(),
	name: Type.String(),
	arguments: Type.Unknown(),
	result: Type.Unknown(),
	status: Type.String(),
	duration_ms: NullableInteger(),
});
export type ToolCall = Static<typeof ToolCall>;

export const Usage = Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() });
export type Usage = Static<typeof Usage>;

const author = Type.Object({ type: OneOf(['visitor', 'model', 'human']), name: NullableText() });
const messageError = Type.Object({ code: Type.String(), message: Type.String() });

const visible = {
	id: Type.String(),
	conversation_id: Type.String(),
	role: OneOf(['user', 'assistant']),
	author,
	content: Type.String(),
	status: OneOf(['completed', 'in_progress', 'stopped', 'failed']),
	citations: Type.Array(Citation),
	error: NullableObject(messageError),
	feedback: NullableOneOf(['up', 'down']),
	created_at: Timestamp,
	completed_at: NullableTimestamp,
};

export const Message = Type.Object({
	...visible,
	model: NullableText(),
	tool_calls: Type.Array(ToolCall),
	usage: NullableObject(Usage),
});
export type Message = Static<typeof Message>;

/** A message as visitors see it: without model, usage, and what tools were given and gave. */
export const WidgetMessage = Type.Object({
	...visible,
	tool_calls: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), status: Type.String() })),
});
export type WidgetMessage = Static<typeof WidgetMessage>;

/** Where an order of messages is asked for: oldest first unless said otherwise. */
export const MessageListQuery = PageQueryWith({});

const send = {
	deployment_id: Id('The deployment whose assistant answers.'),
	conversation_id: Type.Optional(Id('Continue this conversation; absent: start one.')),
	content: Type.String({ minLength: 1, maxLength: 32_000 }),
	stream: Type.Optional(Type.Boolean({ description: 'An SSE stream of the reply.' })),
	metadata: Type.Optional(
		Type.Record(Type.String(), Type.Unknown(), {
			description: "The conversation's, at its start only. At most 16 KiB.",
		}),
	),
};

export const SendMessage = Strict(send);
export type SendMessage = Static<typeof SendMessage>;

export const MessageReply = Type.Object({ ...Message.properties, user_message: Message });
export type MessageReply = Static<typeof MessageReply>;
export const WidgetMessageReply = Type.Object({ ...WidgetMessage.properties, user_message: WidgetMessage });
export type WidgetMessageReply = Static<typeof WidgetMessageReply>;

/** Messages. */
export const messageOperations = {
	sendMessage: {
		method: 'POST',
		path: '/api/v1/messages',
		summary: 'Send a message and get the reply',
		tag: 'Messages',
		access: withKey('messages:write'),
		body: SendMessage,
		status: 201,
		result: MessageReply,
		streams: 'asked',
	},
} as const satisfies OperationTable;
