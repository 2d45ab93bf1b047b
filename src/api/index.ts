import { type Operations, operations } from '../contract/index.ts';
import type { Route } from '../http/index.ts';
import { type AssistantsOptions, assistantHandlers } from './assistants.ts';
import type { Handler } from './call.ts';
import { type ConversationHandlersOptions, conversationHandlers } from './conversations.ts';
import { type DeploymentHandlersOptions, deploymentHandlers } from './deployments.ts';
import { type DocumentsOptions, documentHandlers } from './documents.ts';
import { type KnowledgeBasesOptions, knowledgeBaseHandlers } from './knowledge-bases.ts';
import { type MessageHandlersOptions, messageHandlers } from './messages.ts';
import { keyRoute, type PipelineOptions } from './pipeline.ts';
import { type WidgetRoutesOptions, widgetRoutes } from './widget.ts';

export { Cursors } from './cursors.ts';
export { SERVED_WHILE_DRAINING, serverRoutes } from './server-routes.ts';
export { widgetErrorHeaders } from './widget.ts';

export type ApiOptions = PipelineOptions &
	AssistantsOptions &
	KnowledgeBasesOptions &
	DocumentsOptions &
	DeploymentHandlersOptions &
	MessageHandlersOptions &
	ConversationHandlersOptions &
	WidgetRoutesOptions;

/** The operations that need a credential, and what answers each. */
type KeyOperation = {
	[K in keyof Operations]: Operations[K]['access']['kind'] extends 'key' ? K : never;
}[keyof Operations];

/** Every route of the API. */
export function apiRoutes(options: ApiOptions): Route[] {
	const handlers: { [K in KeyOperation]: Handler<Operations[K]> } = {
		...assistantHandlers(options),
		...knowledgeBaseHandlers(options),
		...documentHandlers(options),
		...deploymentHandlers(options),
		...messageHandlers(options),
		...conversationHandlers(options),
	};
	const keyRoutes = (Object.keys(handlers) as KeyOperation[]).map((id) =>
		keyRoute(operations[id], handlers[id] as Handler<never>, options),
	);
	return [...keyRoutes, ...widgetRoutes(options)];
}
