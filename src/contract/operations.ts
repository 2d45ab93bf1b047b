import { accountOperations } from './account.ts';
import { apiKeyOperations } from './api-keys.ts';
import { assistantOperations } from './assistants.ts';
import { auditLogOperations } from './audit-log.ts';
import { cannedReplyOperations } from './canned-replies.ts';
import { conversationOperations } from './conversations.ts';
import { costOperations } from './costs.ts';
import { deliveryOperations } from './deliveries.ts';
import { deploymentOperations } from './deployments.ts';
import { documentOperations } from './documents.ts';
import { erasureOperations } from './erasures.ts';
import { eventOperations } from './events.ts';
import { inboxOperations } from './inbox.ts';
import { knowledgeBaseOperations } from './knowledge-bases.ts';
import { messageOperations } from './messages.ts';
import { modelOperations } from './models.ts';
import { noteOperations } from './notes.ts';
import { sessionOperations } from './session.ts';
import { sourceOperations } from './sources.ts';
import { statisticsOperations } from './statistics.ts';
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
	...inboxOperations,
	...noteOperations,
	...cannedReplyOperations,
	...widgetOperations,
	...webhookOperations,
	...deliveryOperations,
	...eventOperations,
	...statisticsOperations,
	...costOperations,
	...modelOperations,
	...apiKeyOperations,
	...userOperations,
	...workspaceOperations,
	...sessionOperations,
	...accountOperations,
	...auditLogOperations,
	...erasureOperations,
};

export type Operations = typeof operations;
export type OperationId = keyof Operations;

const ids = new Map<object, string>(Object.entries(operations).map(([id, operation]) => [operation, id]));

/** The operationId of an operation of the table. */
export function operationIdOf(operation: object): string {
	const id = ids.get(operation);
	if (id === undefined) throw new Error('The operation is not in the table.');
	return id;
}
