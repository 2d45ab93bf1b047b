import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashApiKey } from '../../src/access/api-keys.ts';
import {
	Access,
	type AccessOptions,
	createApiKey,
	DashboardNetworks,
	type UserSession,
} from '../../src/access/index.ts';
import { AppError, createLog, deferred } from '../../src/base/index.ts';
import { SCOPES, type Scope } from '../../src/contract/index.ts';
import type { ApiKeyRecord, Commit } from '../../src/store/index.ts';

const START = Date.UTC(2026, 10, 20);

/** Access over a store that knows one key of a workspace with this plan. */
function setUp({
	own = {},
	plan = 'free',
	rateLimit,
	commitOutcome = async () => ({ outcome: 'committed', seqs: [] }),
}: {
	own?: Partial<ApiKeyRecord>;
	plan?: string;
	rateLimit?: number;
	/** The outcome of every commit. */
	commitOutcome?: () => Promise<object>;
} = {}) {
	const key = createApiKey();
	const record: ApiKeyRecord = {
		id: 'key_1',
		version: 1,
		workspace_id: 'ws_1',
		name: 'Backend',
		hash: hashApiKey(key),
		prefix: key.slice(0, 8),
		scopes: ['*'],
		last_used_at: null,
		expires_at: null,
		created_at: START,
		...own,
	};
	const stored = new Map([[record.hash, record]]);
	const seen = { lookUps: 0, commits: [] as Commit[] };
	const store = {
		access: {
			apiKeyByHash: async (hash: string) => {
				seen.lookUps++;
				return stored.get(hash);
			},
		},
		get: async (kind: string, id: string) => (kind === 'workspaces' && id === 'ws_1' ? { id, plan } : undefined),
		commit: (commit: Commit) => {
			seen.commits.push(commit);
			return commitOutcome();
		},
	} as unknown as AccessOptions['store'];
	const clock = { at: START, now: () => clock.at };
	const sessions = {
		find: async (cookies: string | undefined) => (cookies === 'parley_session=good' ? SIGNED_IN : null),
	};
	const log = createLog('silent');
	return {
		key,
		record,
		stored,
		seen,
		clock,
		access: new Access({ store, sessions, dashboardNetworks: new DashboardNetworks([]), clock, log, rateLimit }),
	};
}

const SIGNED_IN: UserSession = {
	session: {
		id: 'sess_1',
		version: 1,
		workspace_id: 'ws_1',
		user_id: 'user_1',
		hash: 'hash',
		user_agent: null,
		signed_in_by: 'password',
		expires_at: START + 1,
		created_at: START,
	},
	user: {
		id: 'user_1',
		version: 1,
		workspace_id: 'ws_1',
		email: 'ada@example.com',
		name: 'Ada',
		role: 'member',
		password_hash: null,
		password_link_hash: null,
		password_link_expires_at: null,
		totp: null,
		oidc_issuer: null,
		oidc_subject: null,
		deactivated_at: null,
		created_at: START,
		updated_at: START,
	},
	setCookie: null,
};

const isUnauthorized = (error: unknown): boolean => error instanceof AppError && error.code === 'unauthorized';

test('a key authenticates its workspace with its name and scopes', async () => {
	const { key, access } = setUp({ own: { scopes: ['assistants:read'] } });
	assert.deepEqual(await access.authenticate({ authorization: `Bearer ${key}` }), {
		workspaceId: 'ws_1',
		credentialId: 'key_1',
		name: 'Backend',
		scopes: ['assistants:read'],
		expiresAt: null,
		userSession: null,
	});
	// The scheme's name is case-insensitive (RFC 9110, section 11.1).
	for (const header of [`bearer ${key}`, `BEARER ${key}`, `Bearer   ${key}`, `Bearer ${key} `]) {
		assert.equal((await access.authenticate({ authorization: header })).credentialId, 'key_1');
	}
});

test('rejects a missing or malformed header and a mistyped key without a read of the store', async () => {
	const { key, seen, access } = setUp();
	const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
	const headers = [
		undefined,
		'',
		' ',
		'Bearer',
		'Bearer ',
		key,
		` Bearer ${key}`,
		`Basic ${key}`,
		`Basic ${Buffer.from(`${key}:`).toString('base64')}`,
		`Bearer${key}`,
		`Bearer: ${key}`,
		`Bearer "${key}"`,
		`Bearer ${key}, Bearer ${key}`,
		`Bearer ${key} ${key}`,
		`Bearer ${key}\n`,
		`Bearer ${typo}`,
		`Bearer ${key.slice(0, -1)}`,
		`Bearer ${'x'.repeat(100_000)}`,
		`Bearer ${' '.repeat(100_000)}x y`,
	];
	for (const header of headers) {
		await assert.rejects(
			access.authenticate({ authorization: header }),
			isUnauthorized,
			header?.slice(0, 80) ?? 'no header',
		);
	}
	assert.equal(seen.lookUps, 0);
});

test('the error never repeats the credential', async () => {
	const { key, access } = setUp();
	const unknown = createApiKey();
	for (const header of [`Bearer ${key}x`, `Basic ${key}`, `Bearer ${unknown}`]) {
		await assert.rejects(access.authenticate({ authorization: header }), (error: Error) => {
			assert.ok(!error.message.includes(key) && !error.message.includes(unknown), error.message);
			return true;
		});
	}
});

test('rejects an unknown key', async () => {
	const { access } = setUp();
	await assert.rejects(access.authenticate({ authorization: `Bearer ${createApiKey()}` }), isUnauthorized);
});

test('rejects a revoked key from the next request on', async () => {
	const { key, stored, access } = setUp();
	await access.authenticate({ authorization: `Bearer ${key}` });
	stored.clear();
	await assert.rejects(access.authenticate({ authorization: `Bearer ${key}` }), isUnauthorized);
});

test('a key is valid until the moment it expires', async () => {
	const { key, clock, access } = setUp({ own: { expires_at: START + 1_000 } });
	clock.at = START + 999;
	await access.authenticate({ authorization: `Bearer ${key}` });
	clock.at = START + 1_000;
	await assert.rejects(access.authenticate({ authorization: `Bearer ${key}` }), /expired/);
});

test('a key permits what its scopes include and nothing else', async () => {
	for (const granted of SCOPES) {
		const { key, access } = setUp({ own: { scopes: [granted] } });
		const caller = await access.authenticate({ authorization: `Bearer ${key}` });
		for (const scope of SCOPES.slice(1) as Scope[]) {
			if (granted === '*' || granted === scope) {
				access.requireScope(caller, scope);
				continue;
			}
			assert.throws(
				() => access.requireScope(caller, scope),
				(error: AppError) => error.code === 'insufficient_scope' && error.message.includes(scope),
			);
		}
	}
	const { key, access } = setUp({ own: { scopes: [] } });
	const nobody = await access.authenticate({ authorization: `Bearer ${key}` });
	assert.throws(() => access.requireScope(nobody, 'assistants:read'), { code: 'insufficient_scope' });
});

test('counts requests per key, by the plan of its workspace', async () => {
	for (const [plan, perMinute] of [
		['free', 60],
		['pro', 1_200],
		['unlimited', 6_000],
	] as const) {
		const { key, access } = setUp({ plan });
		const caller = await access.authenticate({ authorization: `Bearer ${key}` });
		assert.equal((await access.count(caller))?.limit, perMinute);
		const remaining = (await access.count(caller))?.remaining;
		assert.equal(remaining, perMinute / 6 - 2);
		assert.equal((await access.count({ ...caller, credentialId: 'key_2' }))?.remaining, perMinute / 6 - 1);
	}
});

test('the setting overrides every plan, and 0 counts nothing', async () => {
	const limited = setUp({ rateLimit: 120 });
	const caller = await limited.access.authenticate({ authorization: `Bearer ${limited.key}` });
	assert.equal((await limited.access.count(caller))?.limit, 120);
	assert.equal(await setUp({ rateLimit: 0 }).access.count(caller), null);
});

test('an unknown plan does not avoid the limit', async () => {
	for (const plan of ['', 'constructor', '__proto__', 'toString', 'gone']) {
		const { key, access } = setUp({ plan });
		const caller = await access.authenticate({ authorization: `Bearer ${key}` });
		assert.equal((await access.count(caller))?.limit, 6_000, plan);
	}
});

test('a session authenticates its user with the scopes of the role', async () => {
	const { access } = setUp();
	const caller = await access.authenticate({ cookies: 'parley_session=good' });
	const { workspaceId, credentialId, name, userSession } = caller;
	assert.deepEqual([workspaceId, credentialId, name, userSession], ['ws_1', 'sess_1', 'Ada', SIGNED_IN]);
	for (const scope of SCOPES.slice(1) as Scope[]) {
		if (!scope.startsWith('settings:')) access.requireScope(caller, scope);
		else assert.throws(() => access.requireScope(caller, scope), { code: 'forbidden' });
	}
	assert.equal((await access.authenticateUser({ cookies: 'parley_session=good' })).credentialId, 'sess_1');
});

test('a Bearer key decides, valid or not, and other schemes are ignored', async () => {
	const { key, access } = setUp();
	const cookies = 'parley_session=good';
	assert.equal((await access.authenticate({ authorization: `Bearer ${key}`, cookies })).credentialId, 'key_1');
	await assert.rejects(access.authenticate({ authorization: 'Bearer nonsense', cookies }), isUnauthorized);
	assert.equal((await access.authenticate({ authorization: 'Basic YTpi', cookies })).credentialId, 'sess_1');
	await assert.rejects(access.authenticate({ authorization: 'Basic YTpi', cookies: 'a=b' }), isUnauthorized);
	await assert.rejects(access.authenticateUser({ authorization: `Bearer ${key}` }), isUnauthorized);
});

test('records the last use of a key to the minute, however often it is used', async () => {
	const { key, record, seen, clock, access } = setUp();
	const use = () => access.authenticate({ authorization: `Bearer ${key}` });
	await Promise.all(Array.from({ length: 50 }, use));
	const noted = () => seen.commits.map(({ write }) => write?.[0]);
	const first = { op: 'patch', kind: 'api_keys', id: 'key_1', set: { last_used_at: START } };
	assert.deepEqual(noted(), [first]);
	clock.at += 59_999;
	await use();
	assert.equal(seen.commits.length, 1);
	clock.at += 1;
	await use();
	assert.equal(seen.commits.length, 2);
	// A time that another process recorded counts as well.
	record.last_used_at = START + 100_000;
	clock.at = START + 140_000;
	await use();
	assert.equal(seen.commits.length, 2);
});

test('no request waits for the recording or fails because of it', async () => {
	const never = deferred<object>();
	const slow = setUp({ commitOutcome: () => never.promise });
	assert.equal((await slow.access.authenticate({ authorization: `Bearer ${slow.key}` })).credentialId, 'key_1');
	const broken = setUp({ commitOutcome: () => Promise.reject(new AppError('unavailable')) });
	assert.equal((await broken.access.authenticate({ authorization: `Bearer ${broken.key}` })).credentialId, 'key_1');
});
