import { type Static, Type } from 'typebox';
import { EventStreamQuery, WidgetPeople } from './conversations.ts';
import { WidgetConfig } from './deployments.ts';
import { Feedback, messageBodies, SendMessage, WidgetMessage, WidgetMessageReply } from './messages.ts';
import { asAnyVisitor, asVisitor, type OperationTable, SMALL_BODY } from './operation.ts';
import { EMAIL_PATTERN } from './patterns.ts';
import { Id, PageOf, PageQueryWith, Strict } from './shapes.ts';

/** The query of a visitor's routes: the deployment against which they are checked. */
export const WidgetQuery = Type.Object({
	deployment_id: Type.String({ minLength: 1, description: 'The deployment.' }),
});
export const WidgetHistoryQuery = PageQueryWith({ deployment_id: Id('The deployment.') });
export const WidgetEventStreamQuery = Strict({
	...EventStreamQuery.properties,
	deployment_id: Id('The deployment.'),
});
export const WidgetFeedback = Strict({ ...Feedback.properties, deployment_id: Id('The deployment.') });
export const WidgetPersonRequest = Strict({
	deployment_id: Id('The deployment.'),
	withdraw: Type.Optional(
		Type.Boolean({ description: 'Takes the request back, and removes the e-mail address. Default false.' }),
	),
	email: Type.Optional(
		Type.String({
			maxLength: 254,
			pattern: EMAIL_PATTERN,
			description: 'Where a person can answer later. Shown to the workspace.',
			examples: ['ada@example.com'],
		}),
	),
});
export type WidgetPersonRequest = Static<typeof WidgetPersonRequest>;
export const WidgetPersonRequestResult = Type.Object({
	conversation_id: Type.String(),
	...WidgetPeople.properties,
});
export const WidgetStop = Strict({ deployment_id: Id('The deployment.') });

/**
 * Largest body in bytes from an unidentified visitor: the longest content (or comment) with each character written as two
 * escapes of six bytes, the largest metadata in the same form, and some margin.
 */
const MESSAGE_BODY = 448 * 1024;
const FEEDBACK_BODY = 32 * 1024;

/** Operations for visitors of a web page. */
export const widgetOperations = {
	getWidgetConfig: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/widget/config',
		summary: "Read a deployment's widget configuration",
		description: 'May be cached by a CDN. Unknown query parameters are ignored.',
		tag: 'Widget',
		access: asAnyVisitor,
		query: WidgetQuery,
		result: WidgetConfig,
	},
	sendWidgetMessage: {
		method: 'POST',
		path: '/api/v1/widget/messages',
		summary: 'Send a message as a visitor and get the reply',
		description:
			'Without `conversation_id` it starts a conversation; later messages name its id. The reply is returned whole, or as a stream if `stream` or `Accept` asks for one and the deployment allows it.',
		tag: 'Widget',
		access: asVisitor,
		body: SendMessage,
		maxBodyBytes: MESSAGE_BODY,
		examples: messageBodies,
		errors: ['assistant_archived', 'conversation_archived', 'usage_limit_reached', 'conversation_busy', 'model_error'],
		status: 201,
		result: WidgetMessageReply,
		streams: 'asked',
	},
	listWidgetMessages: {
		method: 'GET',
		path: '/api/v1/widget/conversations/{id}/messages',
		summary: "A visitor's history, oldest first",
		description:
			'For a returning visitor: the messages of a conversation, without tool arguments, usage and model, and its people.',
		tag: 'Widget',
		access: asVisitor,
		query: WidgetHistoryQuery,
		result: Type.Object({ ...PageOf(WidgetMessage).properties, people: WidgetPeople }),
	},
	followWidgetConversation: {
		method: 'GET',
		path: '/api/v1/widget/conversations/{id}/events',
		summary: 'Follow a conversation as a visitor',
		description:
			'The stream ends when the visitor’s token expires or the deployment no longer allows the visitor: connect again with `Last-Event-ID` and a new token. At most 1,000 clients may follow a conversation at once, and a visitor may have 100 open streams in a deployment. Beyond that the response is a 429.',
		tag: 'Widget',
		access: asVisitor,
		query: WidgetEventStreamQuery,
		result: Type.Unknown(),
		streams: 'always',
	},
	stopWidgetReply: {
		method: 'POST',
		path: '/api/v1/widget/conversations/{id}/stop',
		summary: 'Stop the reply that is being written, as a visitor',
		description: 'The text so far is kept, with status `stopped`. `stopped` is false if no reply was being written.',
		tag: 'Widget',
		access: asVisitor,
		body: WidgetStop,
		maxBodyBytes: SMALL_BODY,
		result: Type.Object({ stopped: Type.Boolean() }),
	},
	requestPerson: {
		method: 'POST',
		path: '/api/v1/widget/conversations/{id}/request-person',
		summary: 'Ask for a person, or withdraw the request, as a visitor',
		description:
			'Where `features.handoff` is on. A repeat changes nothing but the e-mail address. A takeover ends the request; while a person has the conversation, there is nothing to request.',
		tag: 'Widget',
		access: asVisitor,
		body: WidgetPersonRequest,
		maxBodyBytes: SMALL_BODY,
		errors: ['handoff_disabled', 'conversation_archived'],
		result: WidgetPersonRequestResult,
	},
	rateWidgetMessage: {
		method: 'POST',
		path: '/api/v1/widget/messages/{id}/feedback',
		summary: "Rate an assistant's message, as a visitor",
		description: 'A later rating replaces the earlier one.',
		tag: 'Widget',
		access: asVisitor,
		body: WidgetFeedback,
		maxBodyBytes: FEEDBACK_BODY,
		result: WidgetMessage,
	},
} as const satisfies OperationTable;
