import type { Access } from '../access/index.ts';
import { type Clock, timestamp } from '../base/index.ts';
import type { Operations, Scope } from '../contract/index.ts';
import { presentDeployment } from '../deployments/index.ts';
import { presentDocument, presentKnowledgeBase, presentSource } from '../knowledge/index.ts';
import type { Records, Store, WorkspaceRecord } from '../store/index.ts';
import { presentApiKey } from './api-keys.ts';
import { presentAssistant } from './assistants.ts';
import { type Handler, RawResponse } from './call.ts';
import { presentCannedReply } from './canned-replies.ts';
import { pagesOf } from './pages-of.ts';
import { presentTool } from './tools.ts';
import { presentUser } from './users.ts';
import { presentWebhook } from './webhooks.ts';
import { presentWorkspace, requireWorkspace } from './workspace.ts';

/** The version of the format. It changes when a program that reads the former one would fail. */
const FORMAT_VERSION = 1;

/** What an export shows. A caller needs the scope of each area. */
const EXPORTED_SCOPES: readonly Scope[] = [
	'settings:read',
	'assistants:read',
	'knowledge_bases:read',
	'tools:read',
	'deployments:read',
	'conversations:read',
	'webhooks:read',
];

type ReadingStore = Pick<Store, 'list' | 'sources'>;

export interface WorkspaceExportOptions {
	access: Pick<Access, 'requireScope'>;
	store: Store;
	clock: Clock;
}

/** The caller's workspace as a file. */
export function workspaceExportHandlers({ access, store, clock }: WorkspaceExportOptions): {
	exportWorkspace: Handler<Operations['exportWorkspace']>;
} {
	return {
		async exportWorkspace({ caller }) {
			for (const scope of EXPORTED_SCOPES) access.requireScope(caller, scope);
			const record = await requireWorkspace(store, caller.workspaceId);
			return new RawResponse({
				headers: [
					['content-type', 'application/jsonl'],
					['content-disposition', `attachment; filename="${record.id}.jsonl"`],
					['x-content-type-options', 'nosniff'],
					['cache-control', 'no-store'],
				],
				chunks: exportWorkspace(store, record, clock.now()),
			});
		},
	};
}

/**
 * A workspace as JSON Lines, `{"type", "resource"}` each, in chunks of one page. It is read while it is sent: each page as it is at
 * its time, in order of creation, so that what exists all the time is in it once.
 */
async function* exportWorkspace(store: ReadingStore, workspace: WorkspaceRecord, now: number): AsyncGenerator<string> {
	let lines = 0;
	const chunkOf = (type: string, resources: readonly object[]): string => {
		lines += resources.length;
		return resources.map((resource) => `${JSON.stringify({ type, resource })}\n`).join('');
	};
	const format = { format: 'parley-workspace', version: FORMAT_VERSION, started_at: timestamp(now) };
	yield chunkOf('export', [format]);
	yield chunkOf('workspace', [presentWorkspace(workspace)]);
	const inWorkspace = { where: { workspace_id: workspace.id } };
	for await (const page of pagesOf(store, 'users', inWorkspace)) yield chunkOf('user', page.map(presentUser));
	for await (const page of pagesOf(store, 'api_keys', inWorkspace)) yield chunkOf('api_key', page.map(presentApiKey));
	for await (const page of pagesOf(store, 'tools', inWorkspace)) yield chunkOf('tool', page.map(presentTool));
	for await (const bases of pagesOf(store, 'knowledge_bases', inWorkspace)) {
		yield chunkOf('knowledge_base', bases.map(presentKnowledgeBase));
		for (const { id } of bases) {
			const inBase = { where: { knowledge_base_id: id } };
			for await (const page of pagesOf(store, 'sources', inBase)) {
				yield chunkOf('source', await Promise.all(page.map(async (source) => sourceOf(store, source))));
			}
			for await (const page of pagesOf(store, 'documents', inBase))
				yield chunkOf('document', page.map(presentDocument));
		}
	}
	for await (const page of pagesOf(store, 'assistants', inWorkspace))
		yield chunkOf('assistant', page.map(presentAssistant));
	for await (const page of pagesOf(store, 'deployments', inWorkspace)) {
		yield chunkOf('deployment', page.map(presentDeployment));
	}
	for await (const page of pagesOf(store, 'webhooks', inWorkspace)) yield chunkOf('webhook', page.map(presentWebhook));
	for await (const page of pagesOf(store, 'canned_replies', inWorkspace)) {
		yield chunkOf('canned_reply', page.map(presentCannedReply));
	}
	yield chunkOf('end', [{ lines: lines + 1 }]);
}

async function sourceOf(store: ReadingStore, source: Records['sources']): Promise<object> {
	return presentSource(source, (await store.sources.documentCounts(source.id)).indexed);
}
