import { type TObject, type TSchema, Type } from 'typebox';
import { Assistant } from './assistants.ts';
import { Budget } from './budgets.ts';
import { Conversation } from './conversations.ts';
import type { EventType } from './events.ts';
import { IndexingStatus, KnowledgeBase } from './knowledge-bases.ts';
import { Message } from './messages.ts';
import { NullableText, OneOf, Timestamp } from './shapes.ts';

/** A knowledge base with its indexing status. */
export const IndexedKnowledgeBase = Type.Object({ ...KnowledgeBase.properties, ...IndexingStatus.properties });

/** A failed tool call of a reply. */
export const ToolFailure = Type.Object({
	tool_id: Type.String(),
	tool_name: Type.String({ description: 'The function that was called.', examples: ['order_status'] }),
	conversation_id: Type.String(),
	message_id: Type.String({ description: 'The reply for which it was called.' }),
	error: Type.String({
		description: 'The error that the model received.',
		examples: ['The API answered with status 500.'],
	}),
});

/** The use of a budget. */
export const BudgetUse = Type.Object({
	scope: OneOf(['workspace', 'deployment', 'visitor'], { description: 'Whose budget it is.' }),
	deployment_id: NullableText({ description: 'Null for the budget of the workspace.' }),
	visitor_id: NullableText({
		description: 'The `visitor_id` of conversations; null unless it is the budget of a visitor.',
	}),
	period: Budget.properties.period,
	period_start: Timestamp,
	amount_micros: Budget.properties.amount_micros,
	cost_micros: Type.Integer({ description: 'What replies have cost in the period.' }),
	reserved_micros: Type.Integer({ description: 'What is reserved for replies that are being written.' }),
	currency: Type.String({ examples: ['USD'] }),
	at_limit: Budget.properties.at_limit,
});

/** A test of an endpoint. */
export const Ping = Type.Object({ webhook_id: Type.String() });

export interface OutgoingEvent {
	summary: string;
	/** The body of its delivery. */
	body: TObject;
}

function outgoing(type: EventType | 'ping', summary: string, data: TSchema): OutgoingEvent {
	const id = Type.String({ description: 'Of the event: the same with every attempt.' });
	return { summary, body: Type.Object({ id, type: Type.Literal(type), created_at: Timestamp, data }) };
}

/** What webhook endpoints are sent, by type: each event of the log, and the ping, which is in no log. */
export const outgoingEvents: { readonly [T in EventType | 'ping']: OutgoingEvent } = {
	'conversation.created': outgoing('conversation.created', 'A conversation has begun', Conversation),
	'conversation.updated': outgoing(
		'conversation.updated',
		'The title, metadata or status of a conversation has changed, or who answers in it, or whether its visitor waits for a person',
		Conversation,
	),
	'conversation.closed': outgoing('conversation.closed', 'A conversation was archived', Conversation),
	'message.created': outgoing(
		'message.created',
		'A message of a visitor or a person is stored, or a reply has completed, stopped or failed',
		Message,
	),
	'assistant.updated': outgoing('assistant.updated', 'An assistant has changed', Assistant),
	'knowledge_base.indexed': outgoing(
		'knowledge_base.indexed',
		'A knowledge base has been indexed and is ready',
		IndexedKnowledgeBase,
	),
	'tool.execution_failed': outgoing('tool.execution_failed', 'A tool call of a reply has failed', ToolFailure),
	'budget.warning': outgoing(
		'budget.warning',
		'80 percent of a budget are used, once for each period of a budget',
		BudgetUse,
	),
	'budget.reached': outgoing(
		'budget.reached',
		'A budget is used up, or the rest of it is less than a reply may cost, once for each period of a budget',
		BudgetUse,
	),
	ping: outgoing('ping', 'An endpoint is tried out', Ping),
};
