import { type TObject, type TSchema, Type } from 'typebox';
import { STREAM_EVENTS, type StreamEventName } from './conversations.ts';
import { Message, MessageError, ToolCall, WidgetMessage, WidgetToolCall } from './messages.ts';

/** The data of a stream's events, by name, for these schemas of messages and tool calls. */
function eventsOf(message: TSchema, toolCall: TSchema): Record<StreamEventName | ToolEventName, TObject> {
	const message_id = Type.String({ description: 'The id of the reply.' });
	return {
		'message.created': Type.Object(
			{ type: Type.Literal('message.created'), message },
			{ description: "A message was added to the conversation: the user's is on disk, or a reply begins." },
		),
		'message.delta': Type.Object(
			{
				type: Type.Literal('message.delta'),
				message_id,
				index: Type.Integer({ minimum: 0, description: 'Offset of the text, in UTF-16 code units.' }),
				delta: Type.String({ examples: ['You have 45 days'] }),
			},
			{ description: 'The next part of a reply’s text.' },
		),
		'tool.started': Type.Object(
			{ type: Type.Literal('tool.started'), message_id, tool_call: toolCall },
			{ description: 'A tool call of a reply has started.' },
		),
		'tool.completed': Type.Object(
			{ type: Type.Literal('tool.completed'), message_id, tool_call: toolCall },
			{ description: 'A tool call has completed or failed.' },
		),
		'message.completed': Type.Object(
			{ type: Type.Literal('message.completed'), message },
			{ description: 'A reply has ended or was stopped. The whole message, which is on disk.' },
		),
		'message.failed': Type.Object(
			{ type: Type.Literal('message.failed'), message, error: MessageError },
			{ description: 'A reply could not be written.' },
		),
		'message.reset': Type.Object(
			{ type: Type.Literal('message.reset'), message_id },
			{
				description:
					'A reply is written again after a crash: clear what was shown of it. The parts that are kept (tool calls, and the text before them) are sent again.',
			},
		),
	};
}

type ToolEventName = 'tool.started' | 'tool.completed';

const names: readonly StreamEventName[] = STREAM_EVENTS;
const orderedEvents = (events: Record<string, TObject>): Record<string, TObject> =>
	Object.fromEntries(names.map((name) => [name, events[name] as TObject]));

/** The `data` of each event of a conversation's stream, by event name. */
export const streamEventSchemas = orderedEvents(eventsOf(Message, ToolCall));
/** The same, as visitors receive them. */
export const widgetStreamEventSchemas = orderedEvents(eventsOf(WidgetMessage, WidgetToolCall));
