/** The types of events that webhooks and the event log carry (section 6 of the specification). */
export const EVENT_TYPES = [
	'conversation.created',
	'conversation.updated',
	'conversation.closed',
	'message.created',
	'assistant.updated',
	'knowledge_base.indexed',
	'tool.execution_failed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
