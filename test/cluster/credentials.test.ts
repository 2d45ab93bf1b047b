import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { hashApiKey } from '../../src/access/api-keys.ts';
import {
	Access,
	type AccessOptions,
	type Caller,
	CredentialMonitor,
	createApiKey,
	DashboardNetworks,
	Passwords,
	Users,
} from '../../src/access/index.ts';
import { createLog, systemClock } from '../../src/base/index.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/index.ts';
import * as samples from '../store/samples.ts';
import { TestRequest } from '../support/abortable-request.ts';
import { quickDerive } from '../support/app.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const log = createLog('silent');

suite('credentials in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let here: PostgresStore;
	let elsewhere: PostgresStore;
	before(async () => {
		server = await startPostgres();
		const url = await server.database('credentials');
		[here, elsewhere] = [await openPostgresStore({ url }), await openPostgresStore({ url })];
	});
	after(async () => {
		await here[Symbol.asyncDispose]();
		await elsewhere[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});

	/** Access on the first node, whose reads of many records are counted. */
	function setUp() {
		const seen = { queries: 0 };
		const store = {
			access: here.access,
			commit: (commit) => here.commit(commit),
			get: (kind, id) => here.get(kind, id),
			getMany(kind, ids) {
				seen.queries++;
				return here.getMany(kind, ids);
			},
		} as AccessOptions['store'];
		const sessions = { find: async () => null };
		const dashboardNetworks = new DashboardNetworks([]);
		const access = new Access({ store, sessions, dashboardNetworks, clock: systemClock, log, rateLimit: 0 });
		return { access, seen };
	}

	async function addKey() {
		const key = createApiKey();
		const record = samples.apiKey({ hash: hashApiKey(key), expires_at: null });
		await elsewhere.commit({ write: [{ op: 'insert', kind: 'api_keys', record }] });
		return { record, credentials: { authorization: `Bearer ${key}` } };
	}

	async function addSession() {
		const user = { ...samples.user({ deactivated_at: null, role: 'member' }), version: 1 };
		const session = { ...samples.session({ user_id: user.id, expires_at: Date.now() + 3_600_000 }), version: 1 };
		await elsewhere.commit({
			write: [
				{ op: 'insert', kind: 'users', record: user },
				{ op: 'insert', kind: 'sessions', record: session },
			],
		});
		const caller: Caller = {
			...{ workspaceId: user.workspace_id, credentialId: session.id, name: user.name, scopes: ['*'], expiresAt: null },
			userSession: { session, user, setCookie: null },
		};
		return { user, session, caller };
	}

	test('a key that one node revokes is refused by the next request to another', async () => {
		const { access } = setUp();
		const { record, credentials } = await addKey();
		assert.equal((await access.authenticate(credentials)).credentialId, record.id);
		await elsewhere.commit({ write: [{ op: 'remove', kind: 'api_keys', id: record.id }] });
		await assert.rejects(access.authenticate(credentials), { code: 'unauthorized' });
	});

	test('streams end whose key, session or user another node has revoked, and no others', async () => {
		const { access } = setUp();
		using monitor = new CredentialMonitor({ access, clock: systemClock, log, recheckIntervalMs: 20 });
		const begin = (caller: Caller) => monitor.beginUse(caller, new TestRequest());
		const [key, keptKey] = [await addKey(), await addKey()];
		const [signedOut, deactivated, kept] = [await addSession(), await addSession(), await addSession()];
		const byKey = begin(await access.authenticate(key.credentials));
		const byKeptKey = begin(await access.authenticate(keptKey.credentials));
		const [bySession, byUser, byKept] = [signedOut, deactivated, kept].map(({ caller }) => begin(caller));
		await monitor.recheckAll();
		assert.equal(monitor.size, 5);
		await elsewhere.commit({ write: [{ op: 'remove', kind: 'api_keys', id: key.record.id }] });
		await elsewhere.commit({ write: [{ op: 'remove', kind: 'sessions', id: signedOut.session.id }] });
		const users = new Users({ store: elsewhere, passwords: new Passwords(quickDerive), clock: systemClock });
		const { id, workspace_id } = deactivated.user;
		await users.change(workspace_id, id, { status: 'deactivated' }, { scopes: ['*'], versions: null }).commit();
		await until('the three streams end', () => [byKey, bySession, byUser].every((use) => use?.isRevoked));
		assert.deepEqual([byKeptKey.isEnded, byKept?.isEnded], [false, false]);
	});

	test('the credentials of a thousand streams are checked with a few queries', async () => {
		const { access, seen } = setUp();
		using monitor = new CredentialMonitor({ access, clock: systemClock, log, recheckIntervalMs: 3_600_000 });
		const records = Array.from({ length: 1_000 }, () => samples.apiKey({ expires_at: null }));
		await here.commit({ write: records.map((record) => ({ op: 'insert', kind: 'api_keys', record })) });
		for (const { id, name, workspace_id } of records) {
			const caller = { workspaceId: workspace_id, credentialId: id, name, scopes: ['*'], expiresAt: null } as const;
			monitor.beginUse({ ...caller, userSession: null }, new TestRequest());
		}
		// Each was checked when its use began.
		seen.queries = 0;
		await monitor.recheckAll();
		assert.equal(monitor.size, 1_000);
		assert.ok(seen.queries <= 10, `${seen.queries} queries`);
	});
});
