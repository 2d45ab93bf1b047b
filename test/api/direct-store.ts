import { createApiKey, insertKey, insertWorkspace } from '../../src/access/index.ts';
import { newId } from '../../src/base/index.ts';
import type { Scope } from '../../src/contract/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Store } from '../../src/store/index.ts';
import type { TestApp } from '../support/app.ts';

/** The store of a running server, opened beside it as the command line does. */
export function openStoreDirectly({ dataDir }: Pick<TestApp, 'dataDir'>): Promise<Store & { searchDatabase: string }> {
	return openSqliteStore({ dataDir, writer: workerEntry('store'), role: 'tool' });
}

/** The workspace that the first start created. */
export async function firstWorkspace(store: Store): Promise<string> {
	const [workspace] = await store.list('workspaces', { where: {}, order: 'asc', limit: 1 });
	if (!workspace) throw new Error('there is no workspace');
	return workspace.id;
}

/** Adds a key to a workspace and returns it. */
export async function addKey(store: Store, workspaceId: string, scopes: ('*' | Scope)[] = ['*']): Promise<string> {
	const key = createApiKey();
	await store.commit({ write: [insertKey(workspaceId, key, { name: 'Second key', scopes, now: Date.now() })] });
	return key;
}

/** Adds a workspace with a key. */
export async function addWorkspace(store: Store, plan = 'unlimited'): Promise<{ id: string; key: string }> {
	const id = newId('workspace');
	const now = Date.now();
	await store.commit({
		write: [...insertWorkspace(id, 'Other', now), { op: 'patch', kind: 'workspaces', id, set: { plan } }],
	});
	return { id, key: await addKey(store, id) };
}

/** The types of a workspace's (or conversation's) events so far, in order, with their data. */
export async function eventsSoFar(store: Store, stream: string, type?: string) {
	const events = await store.events.after(stream, 0, 10_000);
	return type === undefined ? events : events.filter((event) => event.type === type);
}
