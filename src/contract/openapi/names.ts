import { ID_PREFIXES, type IdKind } from '../../base/index.ts';
import * as access from '../access.ts';
import * as assistants from '../assistants.ts';
import * as conversations from '../conversations.ts';
import * as deliveries from '../deliveries.ts';
import * as deployments from '../deployments.ts';
import * as documents from '../documents.ts';
import * as events from '../events.ts';
import * as knowledgeBases from '../knowledge-bases.ts';
import * as messages from '../messages.ts';
import * as models from '../models.ts';
import * as outgoingEvents from '../outgoing-events.ts';
import * as serverState from '../server-state.ts';
import { Deleted, ErrorEnvelope } from '../shapes.ts';
import * as tools from '../tools.ts';
import * as webhooks from '../webhooks.ts';
import * as widget from '../widget.ts';

/** The contract's files; a schema that one of them exports has the name of the export. */
const FILES: readonly object[] = [
	access,
	assistants,
	conversations,
	deliveries,
	deployments,
	documents,
	events,
	knowledgeBases,
	messages,
	models,
	outgoingEvents,
	serverState,
	tools,
	webhooks,
	widget,
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
	/** Undefined for a schema that is described where it stands. A page of a named schema is a list of it. */
	of(schema: object): string | undefined {
		const name = namesOfSchemas.get(schema);
		if (name !== undefined) return name;
		const { properties } = schema as { properties?: { data?: { items?: object }; next_cursor?: object } };
		const item = properties?.next_cursor && properties.data?.items && namesOfSchemas.get(properties.data.items);
		return item ? `${item}List` : undefined;
	},
};

/** What the ids of a path or a schema name: `knowledge-bases` and `KnowledgeBase` speak of a `knowledge_base`. */
export function idKindOf(name: string): IdKind | undefined {
	const words = name
		.replaceAll(/(?<!^)[A-Z]/g, '_$&')
		.replaceAll('-', '_')
		.toLowerCase();
	const singular = words.endsWith('ies') ? `${words.slice(0, -3)}y` : words.replace(/s$/, '');
	return [words, singular].find((kind): kind is IdKind => kind in ID_PREFIXES);
}

/** The name in capitals of its words: of `unknown_model` and of `message.created`. */
export function pascalCase(name: string): string {
	return name.replaceAll(/(?:^|[._-])(\w)/g, (_gap, first: string) => first.toUpperCase());
}

function isSchema(value: unknown): value is object {
	return typeof value === 'object' && value !== null && ('~kind' in value || '~unsafe' in value);
}
