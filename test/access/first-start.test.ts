import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
	Access,
	createApiKey,
	createFirstWorkspace,
	DashboardNetworks,
	FIRST_OWNER,
	isApiKey,
	Passwords,
	Users,
} from '../../src/access/index.ts';
import { createLog, systemClock } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Store } from '../../src/store/index.ts';

const folder = await mkdtemp(join(tmpdir(), 'parley-first-start-'));
after(() => rm(folder, { recursive: true, force: true }));

let made = 0;
/** A new database, or the one of a folder. */
async function open(dataDir = join(folder, String(++made))): Promise<{ store: Store; dataDir: string }> {
	return { store: await openSqliteStore({ dataDir, writer: workerEntry('store') }), dataDir };
}

/** Access to a store without sessions. */
function accessTo(store: Store): Access {
	const sessions = { find: async () => null };
	return new Access({
		store,
		sessions,
		dashboardNetworks: new DashboardNetworks([]),
		clock: systemClock,
		log: createLog('silent'),
		rateLimit: undefined,
	});
}

const everything = { where: {}, order: 'asc', limit: 10 } as const;

test('the first start creates one workspace and a key for it, and the next start creates nothing', async () => {
	const { store, dataDir } = await open();
	let key: string;
	{
		await using _closing = store;
		key = (await createFirstWorkspace(store, systemClock, undefined))?.key ?? '';
		assert.ok(isApiKey(key));
	}
	const again = await open(dataDir);
	await using _closing = again.store;
	assert.equal(await createFirstWorkspace(again.store, systemClock, undefined), null);
	assert.equal(await createFirstWorkspace(again.store, systemClock, createApiKey()), null);
	const [workspace, ...more] = await again.store.list('workspaces', everything);
	assert.equal(more.length, 0);
	assert.equal((await again.store.list('api_keys', everything)).length, 1);
	const access = accessTo(again.store);
	const caller = await access.authenticate({ authorization: `Bearer ${key}` });
	assert.equal(caller.workspaceId, workspace?.id);
	access.requireScope(caller, 'settings:write');
	assert.equal((await access.count(caller))?.limit, 6_000);
});

test('a configured key is the first key, and the database holds only its hash', async () => {
	const given = createApiKey();
	const { store, dataDir } = await open();
	{
		await using _closing = store;
		assert.equal((await createFirstWorkspace(store, systemClock, given))?.key, given);
		const access = accessTo(store);
		await access.authenticate({ authorization: `Bearer ${given}` });
		for (const name of await readdir(dataDir, { withFileTypes: true })) {
			if (!name.isFile()) continue;
			const bytes = await readFile(join(dataDir, name.name));
			assert.equal(bytes.includes(given.slice(8)), false, `${name.name} holds the key`);
		}
	}
});

test('rejects a malformed configured key with a sentence that names the setting, before anything is created', async () => {
	const { store } = await open();
	await using _closing = store;
	const typo = createApiKey().slice(0, -1);
	for (const wrong of ['', 'secret', typo, `${createApiKey()} `]) {
		await assert.rejects(createFirstWorkspace(store, systemClock, wrong), (error: Error) => {
			assert.match(error.message, /^PARLEY_API_KEY /);
			assert.ok(wrong === '' || !error.message.includes(wrong));
			return true;
		});
	}
	assert.deepEqual(await store.list('workspaces', everything), []);
});

test('does not show a key that could not be stored', async () => {
	const store = {
		list: async () => [],
		commit: async () => ({ outcome: 'fenced' }),
	} as unknown as Store;
	await assert.rejects(createFirstWorkspace(store, systemClock, undefined), { code: 'unavailable' });
});

test('the first start creates an owner with a password link, and stores only the hash of its token', async () => {
	const { store, dataDir } = await open();
	await using _closing = store;
	const first = await createFirstWorkspace(store, systemClock, undefined);
	assert.ok(first);
	const [owner, ...others] = await store.list('users', everything);
	assert.deepEqual([owner?.email, owner?.role, owner?.password_hash, others], [FIRST_OWNER, 'owner', null, []]);
	for (const name of await readdir(dataDir, { withFileTypes: true })) {
		if (!name.isFile()) continue;
		const bytes = await readFile(join(dataDir, name.name));
		assert.equal(bytes.includes(first.passwordToken), false, `${name.name} holds the token`);
	}
	const users = new Users({ store, passwords: new Passwords(), clock: systemClock });
	assert.equal((await users.setPassword(first.passwordToken, 'four ducks on a pond')).id, owner?.id);
});
