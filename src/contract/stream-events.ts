import { type TObject, type TSchema, Type } from 'typebox';
import { PresentPerson, STREAM_EVENTS, type StreamEventName, WidgetPeople } from './conversations.ts';
import { Message, MessageError, ToolCall, WidgetMessage, WidgetToolCall } from './messages.ts';
import { Note } from './notes.ts';

/** The data of a stream's events, by name, for these schemas of messages and tool calls. */
function eventsOf(message: TSchema, toolCall: TSchema): Record<VisibleEventName, TObject> {
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

/** The events that visitors get too. */
type VisibleEventName = Exclude<StreamEventName, 'note.created' | 'note.deleted' | 'presence'>;

const names: readonly StreamEventName[] = STREAM_EVENTS;
const orderedEvents = (events: Record<string, TObject>): Record<string, TObject> =>
	Object.fromEntries(names.flatMap((name) => (events[name] ? [[name, events[name]]] : [])));

/** The events about internal notes, which visitors never get. */
const noteEvents = {
	'note.created': Type.Object(
		{ type: Type.Literal('note.created'), note: Note },
		{ description: 'An internal note was added.' },
	),
	'note.deleted': Type.Object(
		{
			type: Type.Literal('note.deleted'),
			note_id: Type.String({ examples: ['note_06gzhmza00001mjww6bbdevcx5ss2c8f'] }),
		},
		{ description: 'An internal note was deleted.' },
	),
};

/** The `data` of each event of a conversation's stream, by event name. */
export const streamEventSchemas = orderedEvents({
	...eventsOf(Message, ToolCall),
	...noteEvents,
	presence: Type.Object(
		{ type: Type.Literal('presence'), people: Type.Array(PresentPerson) },
		{ description: 'Who has the conversation open. It is not stored and has no `id`.' },
	),
});
/** The same, as visitors receive them. */
export const widgetStreamEventSchemas = orderedEvents({
	...eventsOf(WidgetMessage, WidgetToolCall),
	presence: Type.Object(
		{ type: Type.Literal('presence'), ...WidgetPeople.properties },
		{ description: 'The state of a request for a person, and who has taken over. It is not stored and has no `id`.' },
	),
});
