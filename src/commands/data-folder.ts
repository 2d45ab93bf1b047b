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
import { type PostgresUse, withPostgresStore } from './postgres.ts';

const PAGE_SIZE = 100;

/**
 * Runs a task on the store of the settings, with or without running servers: PostgreSQL, or the database of the data folder. Servers see
 * changes at once; those that share PostgreSQL, within a second.
 * @throws AppError `not_found` when there is no database, `unavailable` when it cannot be used
 */
export async function withStore<T>(
	settings: Settings,
	task: (store: Store) => Promise<T>,
	{ role = 'tool', acceptsAnyKey = false }: Partial<PostgresUse> = {},
): Promise<T> {
	if (settings.database_url !== undefined) return withPostgresStore(settings, task, { role, acceptsAnyKey });
	const { data_dir } = settings;
	try {
		requireDatabase(data_dir);
		await using store = await openSqliteStore({ dataDir: data_dir, writer: workerEntry('store'), role });
		return await task(store);
	} catch (error) {
		throw dataFolderError(error, data_dir) ?? error;
	}
}

/**
 * Runs a task on the store as its only owner. It does not migrate: only a start of the server does.
 * @throws AppError `not_found` when there is no database, `unavailable` while a server uses it, and for another schema
 */
export function withExclusiveStore<T>(
	settings: Settings,
	task: (store: Store) => Promise<T>,
	use: Omit<Partial<PostgresUse>, 'role'> = {},
): Promise<T> {
	return withStore(settings, task, { ...use, role: 'exclusive_tool' });
}

/**
 * Requires a database, so that a mistyped folder does not get a new, empty one.
 * @throws AppError `not_found`
 */
export function requireDatabase(dataDir: string): void {
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
	{ database_url, data_dir }: Settings,
): Promise<WorkspaceRecord> {
	if (id === undefined) {
		const [oldest] = await store.list('workspaces', { where: {}, order: 'asc', limit: 1 });
		if (!oldest) throw noWorkspaceError(database_url === undefined ? data_dir : 'the PostgreSQL database');
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

function noWorkspaceError(place: string): AppError {
	const sentence = `There is no workspace in ${place} yet: start the server once, or set PARLEY_DATA_DIR.`;
	return new AppError('not_found', sentence);
}
