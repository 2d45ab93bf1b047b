import { apiKeyOperations } from './api-keys.ts';
import { assistantOperations } from './assistants.ts';
import { conversationOperations } from './conversations.ts';
import { deliveryOperations } from './deliveries.ts';
import { deploymentOperations } from './deployments.ts';
import { documentOperations } from './documents.ts';
import { eventOperations } from './events.ts';
import { knowledgeBaseOperations } from './knowledge-bases.ts';
import { messageOperations } from './messages.ts';
import { modelOperations } from './models.ts';
import { sessionOperations } from './session.ts';
import { sourceOperations } from './sources.ts';
import { toolOperations } from './tools.ts';
import { userOperations } from './users.ts';
import { webhookOperations } from './webhooks.ts';
import { widgetOperations } from './widget.ts';
import { workspaceOperations } from './workspace.ts';

/** Every operation of the API by its operationId. The order is that of the documentation. */
export const operations = {
	...assistantOperations,
	...knowledgeBaseOperations,
	...documentOperations,
	...sourceOperations,
	...toolOperations,
	...deploymentOperations,
	...messageOperations,
	...conversationOperations,
	...widgetOperations,
	...webhookOperations,
	...deliveryOperations,
	...eventOperations,
	...modelOperations,
	...apiKeyOperations,
	...userOperations,
	...workspaceOperations,
	...sessionOperations,
};

export type Operations = typeof operations;
export type OperationId = keyof Operations;
