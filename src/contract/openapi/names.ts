import { ID_PREFIXES, type IdKind } from '../../base/index.ts';
import * as account from '../account.ts';
import * as apiKeys from '../api-keys.ts';
import * as assistants from '../assistants.ts';
import * as auditLog from '../audit-log.ts';
import * as budgets from '../budgets.ts';
import * as cannedReplies from '../canned-replies.ts';
import * as conversations from '../conversations.ts';
import * as costs from '../costs.ts';
import * as deliveries from '../deliveries.ts';
import * as deployments from '../deployments.ts';
import * as documents from '../documents.ts';
import * as erasures from '../erasures.ts';
import * as events from '../events.ts';
import * as inbox from '../inbox.ts';
import * as knowledgeBases from '../knowledge-bases.ts';
import * as messages from '../messages.ts';
import * as models from '../models.ts';
import * as notes from '../notes.ts';
import * as outgoingEvents from '../outgoing-events.ts';
import * as serverState from '../server-state.ts';
import * as session from '../session.ts';
import { Deleted, ErrorEnvelope } from '../shapes.ts';
import * as sources from '../sources.ts';
import * as statistics from '../statistics.ts';
import * as toolConfig from '../tool-config.ts';
import * as tools from '../tools.ts';
import * as users from '../users.ts';
import * as webhooks from '../webhooks.ts';
import * as widget from '../widget.ts';
import * as workspace from '../workspace.ts';

/** The contract's files. A schema that one of them exports has the name of the export. */
const FILES: readonly object[] = [
	account,
	apiKeys,
	assistants,
	auditLog,
	budgets,
	cannedReplies,
	conversations,
	deliveries,
	deployments,
	documents,
	erasures,
	events,
	inbox,
	knowledgeBases,
	messages,
	models,
	notes,
	outgoingEvents,
	serverState,
	session,
	sources,
	statistics,
	costs,
	toolConfig,
	tools,
	users,
	webhooks,
	widget,
	workspace,
];

const namesOfSchemas = new Map<object, string>([
	[ErrorEnvelope, 'Error'],
	[Deleted, 'Deleted'],
]);
for (const file of FILES) {
	for (const [name, member] of Object.entries(file)) if (isSchema(member)) namesOfSchemas.set(member, name);
}

/** The names that schemas have in the document and in the clients that are generated from it. */
export const schemaNames = {
	/** Undefined for a schema that is described inline. A page of a named schema is named as a list of it. */
	of(schema: object): string | undefined {
		const name = namesOfSchemas.get(schema);
		if (name !== undefined) return name;
		const { properties } = schema as { properties?: { data?: { items?: object }; next_cursor?: object } };
		const item = properties?.next_cursor && properties.data?.items && namesOfSchemas.get(properties.data.items);
		return item ? `${item}List` : undefined;
	},
};

/** The kind of resource that a path segment or a schema names: `knowledge_base` for `knowledge-bases` and `KnowledgeBase`. */
export function idKindOf(name: string): IdKind | undefined {
	const words = name
		.replaceAll(/(?<!^)[A-Z]/g, '_$&')
		.replaceAll('-', '_')
		.toLowerCase();
	const singular = words.endsWith('ies') ? `${words.slice(0, -3)}y` : words.replace(/s$/, '');
	return [words, singular].find((kind): kind is IdKind => kind in ID_PREFIXES);
}

/** A name in PascalCase, from a form such as `unknown_model` or `message.created`. */
export function pascalCase(name: string): string {
	return name.replaceAll(/(?:^|[._-])(\w)/g, (_gap, first: string) => first.toUpperCase());
}

function isSchema(value: unknown): value is object {
	return typeof value === 'object' && value !== null && ('~kind' in value || '~unsafe' in value);
}
