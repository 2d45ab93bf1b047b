import { AppError, type Clock, mergedFields, newId, type SecretBox, timestamp } from '../base/index.ts';
import type { Operations, Tool, ToolPatch } from '../contract/index.ts';
import type { Network } from '../net/index.ts';
import {
	type AssistantRecord,
	expectVersion,
	prepareChange,
	requireVersion,
	type Store,
	type ToolRecord,
	type Write,
} from '../store/index.ts';
import {
	completeConfig,
	mergeConfig,
	redactSecrets,
	type ToolConfig,
	ToolSecrets,
	type Tools,
} from '../tools/index.ts';
import { assistantUpdated } from './assistants.ts';
import { type Handler, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type ToolOperation =
	| 'listTools'
	| 'createTool'
	| 'getTool'
	| 'updateTool'
	| 'deleteTool'
	| 'testTool'
	| 'listToolFunctions';

export interface ToolHandlersOptions {
	store: Store;
	network: Pick<Network, 'checkUrl'>;
	secrets: SecretBox;
	cursors: Cursors;
	clock: Clock;
	tools: Pick<Tools, 'list' | 'tryOut'>;
}

/** A tool as the API shows it, its secrets hidden. */
export function presentTool(record: ToolRecord): Tool {
	return {
		id: record.id,
		name: record.name,
		description: record.description,
		type: record.type,
		config: redactSecrets(configOf(record)),
		status: record.status,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/** Tools: create, read, change, delete, and try out. */
export function toolHandlers({ store, network, secrets: box, cursors, clock, tools }: ToolHandlersOptions): {
	[K in ToolOperation]: Handler<Operations[K]>;
} {
	const secrets = new ToolSecrets(box);

	const find = async (workspaceId: string, id: string): Promise<ToolRecord> => {
		const record = await store.get('tools', id);
		if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The tool does not exist.');
		return record;
	};

	/** The tool's configuration after a change; empty where the change does not touch it. */
	const changedConfig = (record: ToolRecord, patch: ToolPatch): Partial<Pick<ToolRecord, 'type' | 'config'>> => {
		const { type = record.type, config } = patch;
		if (type !== record.type) {
			if (!config) {
				const details = [{ path: '/config', message: 'is required, whole, with another type' }];
				throw new AppError('invalid_request', '/config is required, whole, with another type.', { details });
			}
			return { type, config: secrets.seal(completeConfig(type, config, network), null) };
		}
		if (!config) return {};
		const stored = configOf(record);
		const complete = completeConfig(type, mergeConfig(redactSecrets(stored), config), network, stored);
		// Stored secrets are only sent to the host that they were given for.
		return { config: secrets.seal(complete, originOf(complete) === originOf(stored) ? stored : null) };
	};

	return {
		async listTools({ caller, query }) {
			const { type, status } = query;
			const list = `tools ${caller.workspaceId} ${type ?? ''} ${status ?? ''}`;
			const page = cursors.read(list, query);
			const records = await store.list('tools', {
				...page,
				limit: page.limit + 1,
				where: { workspace_id: caller.workspaceId, type, status },
			});
			return cursors.page(list, page, records, byCreation, presentTool);
		},

		async createTool({ caller, body, commit }) {
			const now = clock.now();
			const record: ToolRecord = {
				id: newId('tool'),
				version: 1,
				workspace_id: caller.workspaceId,
				name: body.name,
				description: body.description ?? null,
				type: body.type,
				config: secrets.seal(completeConfig(body.type, body.config, network), null),
				status: 'active',
				created_at: now,
				updated_at: now,
			};
			const change = prepareChange(store, async () => ({
				commit: { write: [{ op: 'insert', kind: 'tools', record }] },
				result: record,
			}));
			return commit(change, (created) => withVersion(presentTool(created), created));
		},

		async getTool({ caller, params }) {
			const record = await find(caller.workspaceId, params.id);
			return withVersion(presentTool(record), record);
		},

		updateTool({ caller, params, body, ifMatchVersions, commit }) {
			const change = prepareChange(store, async () => {
				const record = await find(caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const { type: _type, config: _config, ...fields } = body;
				const set = { ...mergedFields(record, fields), ...changedConfig(record, body), updated_at: clock.now() };
				const next = { ...record, ...set, version: record.version + 1 };
				return {
					commit: {
						expect: [expectVersion('tools', record)],
						write: [{ op: 'patch', kind: 'tools', id: record.id, set }],
					},
					result: next,
				};
			});
			return commit(change, (next) => withVersion(presentTool(next), next));
		},

		deleteTool({ caller, params, ifMatchVersions, commit }) {
			const change = prepareChange(store, async () => {
				const record = await find(caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const now = clock.now();
				const attached = await store.assistants.withTool(caller.workspaceId, record.id);
				const detached = attached.map((assistant) => withoutTool(assistant, record.id, now));
				return {
					commit: {
						// An attachment changes the tool's version: a concurrent one conflicts, and this decision is repeated.
						expect: [expectVersion('tools', record), ...attached.map((item) => expectVersion('assistants', item))],
						write: [
							...detached.map(
								({ id, tool_ids, updated_at }): Write => ({
									op: 'patch',
									kind: 'assistants',
									id,
									set: { tool_ids, updated_at },
								}),
							),
							{ op: 'remove', kind: 'tools', id: record.id },
						],
						events: detached.map((assistant) => assistantUpdated(assistant, now)),
					},
					result: record,
				};
			});
			return commit(change, ({ id }) => ({ id, deleted: true as const }));
		},

		async testTool({ caller, params, body }) {
			const record = await find(caller.workspaceId, params.id);
			const started = performance.now();
			// The call continues when the client leaves: it takes effect once, and a repeat gets its result.
			const neverAborts = new AbortController().signal;
			const trial = await tools.tryOut(record, body.function, body.arguments ?? {}, neverAborts);
			return { ...trial, duration_ms: Math.round(performance.now() - started) };
		},

		async listToolFunctions({ caller, params, request }) {
			const record = await find(caller.workspaceId, params.id);
			return { data: await tools.list(record, request.signal), next_cursor: null };
		},
	};
}

function withoutTool(assistant: AssistantRecord, toolId: string, now: number): AssistantRecord {
	return { ...assistant, tool_ids: assistant.tool_ids.filter((id) => id !== toolId), updated_at: now };
}

/** The scheme, host and port of a tool's URL; placeholders follow only after them. */
function originOf({ url }: ToolConfig): string {
	return new URL('/', url).href;
}

/** A stored configuration was complete when it was stored. */
function configOf({ config }: ToolRecord): ToolConfig {
	return config as unknown as ToolConfig;
}
