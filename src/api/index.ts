import { type Operations, operations } from '../contract/index.ts';
import type { Route } from '../http/index.ts';
import { type AccountRoutesOptions, accountRoutes } from './account.ts';
import { type ApiKeysOptions, apiKeyHandlers } from './api-keys.ts';
import { type AssistantsOptions, assistantHandlers } from './assistants.ts';
import { type AuditLogOptions, auditLogHandlers } from './audit-log.ts';
import type { Handler } from './call.ts';
import { type CannedReplyHandlersOptions, cannedReplyHandlers } from './canned-replies.ts';
import { type ConversationHandlersOptions, conversationHandlers } from './conversations.ts';
import { type CostHandlersOptions, costHandlers } from './costs.ts';
import { type DeliveryHandlersOptions, deliveryHandlers } from './deliveries.ts';
import { type DeploymentHandlersOptions, deploymentHandlers } from './deployments.ts';
import { type DocumentsOptions, documentHandlers } from './documents.ts';
import { type EndUserExportOptions, endUserExportHandlers } from './end-user-export.ts';
import { type ErasureHandlersOptions, erasureHandlers } from './erasures.ts';
import { type EventHandlersOptions, eventHandlers } from './events.ts';
import { type InboxHandlersOptions, inboxHandlers } from './inbox.ts';
import { type KnowledgeBasesOptions, knowledgeBaseHandlers } from './knowledge-bases.ts';
import { type MessageHandlersOptions, messageHandlers } from './messages.ts';
import { type ModelHandlersOptions, modelHandlers } from './models.ts';
import { type NoteHandlersOptions, noteHandlers } from './notes.ts';
import { credentialRoute, type PipelineOptions } from './pipeline.ts';
import { type SessionRoutesOptions, sessionRoutes } from './session.ts';
import { type SourceHandlersOptions, sourceHandlers } from './sources.ts';
import { type StatisticsHandlersOptions, statisticsHandlers } from './statistics.ts';
import { type ToolHandlersOptions, toolHandlers } from './tools.ts';
import { type UsersOptions, userHandlers } from './users.ts';
import { type WebhookHandlersOptions, webhookHandlers } from './webhooks.ts';
import { type WidgetRoutesOptions, widgetRoutes } from './widget/routes.ts';
import { type WorkspaceOptions, workspaceHandlers } from './workspace.ts';
import { type WorkspaceExportOptions, workspaceExportHandlers } from './workspace-export.ts';

export { unhandledApi } from './admission.ts';
export { conversationKeyOf } from './conversation-key.ts';
export { Cursors } from './cursors.ts';
export { dashboardFileRoutes } from './dashboard-files.ts';
export { DemoOrigin } from './demo-origin.ts';
export { demoPageRoutes } from './demo-page.ts';
export { docsPageRoutes } from './docs-page.ts';
export { insideDashboardNetworks } from './inside-dashboard-networks.ts';
export { metricsRoute, openMetricsRoute } from './metrics-route.ts';
export { passwordPageRoutes } from './password-page.ts';
export { SameOriginCheck } from './same-origin-check.ts';
export { DRAIN_SAFE_PATHS, serverRoutes, type Unready } from './server-routes.ts';
export { startPageRoutes } from './start-page.ts';
export { widgetErrorHeaders } from './widget/cors.ts';
export { widgetFileRoutes } from './widget-files.ts';

export type ApiOptions = PipelineOptions &
	AssistantsOptions &
	KnowledgeBasesOptions &
	DocumentsOptions &
	SourceHandlersOptions &
	ToolHandlersOptions &
	DeploymentHandlersOptions &
	MessageHandlersOptions &
	ConversationHandlersOptions &
	InboxHandlersOptions &
	NoteHandlersOptions &
	CannedReplyHandlersOptions &
	WidgetRoutesOptions &
	WebhookHandlersOptions &
	DeliveryHandlersOptions &
	EventHandlersOptions &
	StatisticsHandlersOptions &
	CostHandlersOptions &
	ModelHandlersOptions &
	ApiKeysOptions &
	AuditLogOptions &
	EndUserExportOptions &
	ErasureHandlersOptions &
	UsersOptions &
	WorkspaceOptions &
	WorkspaceExportOptions &
	SessionRoutesOptions &
	AccountRoutesOptions;

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
		...sourceHandlers(options),
		...toolHandlers(options),
		...deploymentHandlers(options),
		...messageHandlers(options),
		...conversationHandlers(options),
		...inboxHandlers(options),
		...noteHandlers(options),
		...cannedReplyHandlers(options),
		...webhookHandlers(options),
		...deliveryHandlers(options),
		...eventHandlers(options),
		...statisticsHandlers(options),
		...costHandlers(options),
		...modelHandlers(options),
		...apiKeyHandlers(options),
		...userHandlers(options),
		...auditLogHandlers(options),
		...endUserExportHandlers(options),
		...erasureHandlers(options),
		...workspaceHandlers(options),
		...workspaceExportHandlers(options),
	};
	const keyRoutes = (Object.keys(handlers) as KeyOperation[]).map((id) =>
		credentialRoute(operations[id], handlers[id] as Handler<never>, options),
	);
	return [...keyRoutes, ...sessionRoutes(options), ...accountRoutes(options), ...widgetRoutes(options)];
}
