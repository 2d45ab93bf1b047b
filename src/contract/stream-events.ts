import { type TObject, type TSchema, Type } from 'typebox';
import { STREAM_EVENTS, type StreamEventName } from './conversations.ts';
import { Message, MessageError, ToolCall, WidgetMessage, WidgetToolCall } from './messages.ts';

/** What the events of a stream hold, by their names, for readers who see messages and tool calls in these shapes. */
function eventsOf(message: TSchema, toolCall: TSchema): Record<StreamEventName | ToolEventName, TObject> {
	const message_id = Type.String({ description: 'The reply that this is about.' });
	return {
		'message.created': Type.Object(
			{ type: Type.Literal('message.created'), message },
			{ description: "A message is in the conversation: the user's is on disk, or a reply begins." },
		),
		'message.delta': Type.Object(
			{
				type: Type.Literal('message.delta'),
				message_id,
				index: Type.Integer({ minimum: 0, description: 'Where the text goes, in UTF-16 code units.' }),
				delta: Type.String({ examples: ['You have 45 days'] }),
			},
			{ description: 'More of the text of a reply.' },
		),
		'tool.started': Type.Object(
			{ type: Type.Literal('tool.started'), message_id, tool_call: toolCall },
			{ description: 'A tool is being called for a reply.' },
		),
		'tool.completed': Type.Object(
			{ type: Type.Literal('tool.completed'), message_id, tool_call: toolCall },
			{ description: 'A tool has answered, or failed.' },
		),
		'message.completed': Type.Object(
			{ type: Type.Literal('message.completed'), message },
			{ description: 'A reply has ended, stopped ones included: the whole message, on disk.' },
		),
		'message.failed': Type.Object(
			{ type: Type.Literal('message.failed'), message, error: MessageError },
			{ description: 'A reply could not be written.' },
		),
		'message.reset': Type.Object(
			{ type: Type.Literal('message.reset'), message_id },
			{
				description:
					'A reply is written anew after a crash: clear what was shown of it. What it goes on from (calls of tools, and what was said before them) is told again.',
			},
		),
	};
}

type ToolEventName = 'tool.started' | 'tool.completed';

const names: readonly StreamEventName[] = STREAM_EVENTS;
const orderedEvents = (events: Record<string, TObject>): Record<string, TObject> =>
	Object.fromEntries(names.map((name) => [name, events[name] as TObject]));

/** The `data` of each event of a conversation's stream, by the event's name. */
export const streamEventSchemas = orderedEvents(eventsOf(Message, ToolCall));
/** The same as visitors get them. */
export const widgetStreamEventSchemas = orderedEvents(eventsOf(WidgetMessage, WidgetToolCall));
