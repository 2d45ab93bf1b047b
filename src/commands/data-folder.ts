import { statSync } from 'node:fs';
import { AppError } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { workerEntry } from '../pool/index.ts';
import {
	databaseFile,
	dataFolderError,
	type Kind,
	type ListPosition,
	openSqliteStore,
	type Readers,
	type Records,
	type Store,
	type WorkspaceRecord,
} from '../store/index.ts';

const PAGE_SIZE = 100;

/**
 * Runs a task on the store of the data folder, with or without a running server. The server sees changes at once.
 * @throws AppError `not_found` when the folder has no database, `unavailable` when it cannot be used
 */
export async function withStore<T>(
	{ data_dir }: Settings,
	task: (store: Store) => Promise<T>,
	role: 'exclusive_tool' | 'tool' = 'tool',
): Promise<T> {
	try {
		requireDatabase(data_dir);
		await using store = await openSqliteStore({ dataDir: data_dir, writer: workerEntry('store'), role });
		return await task(store);
	} catch (error) {
		throw dataFolderError(error, data_dir) ?? error;
	}
}

/**
 * Runs a task on the store of the data folder as its only owner. It does not migrate: only a start of the server does.
 * @throws AppError `not_found` when the folder has no database, `unavailable` while a server uses it, and for another schema
 */
export function withExclusiveStore<T>(settings: Settings, task: (store: Store) => Promise<T>): Promise<T> {
	return withStore(settings, task, 'exclusive_tool');
}

/** Requires a database, so that a mistyped folder does not get a new, empty one. */
function requireDatabase(dataDir: string): void {
	// Throws when this user has no access.
	if (statSync(databaseFile(dataDir), { throwIfNoEntry: false }) === undefined) throw noWorkspaceError(dataDir);
}

/**
 * The workspace of a command: the named one, or else the oldest.
 * @throws AppError `not_found`
 */
export async function findWorkspace(
	store: Store,
	id: string | undefined,
	{ data_dir }: Settings,
): Promise<WorkspaceRecord> {
	if (id === undefined) {
		const [oldest] = await store.list('workspaces', { where: {}, order: 'asc', limit: 1 });
		if (!oldest) throw noWorkspaceError(data_dir);
		return oldest;
	}
	const workspace = await store.get('workspaces', id);
	if (workspace) return workspace;
	throw new AppError('not_found', `There is no workspace ${id}. "parley workspaces list" lists all workspaces.`);
}

/** Every matching record of a kind, the oldest first. */
export async function* listAll<K extends Kind>(
	store: Pick<Readers, 'list'>,
	kind: K,
	where: Partial<Records[K]>,
): AsyncGenerator<Records[K]> {
	let after: ListPosition | undefined;
	for (;;) {
		const page = await store.list(kind, { where, after, order: 'asc', limit: PAGE_SIZE });
		yield* page;
		const last = page.at(-1);
		if (!last || page.length < PAGE_SIZE) return;
		after = { at: last.created_at, id: last.id };
	}
}

function noWorkspaceError(dataDir: string): AppError {
	return new AppError(
		'not_found',
		`There is no workspace in ${dataDir} yet: start the server once, or set PARLEY_DATA_DIR.`,
	);
}
