import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OidcAccounts } from '../../src/access/oidc-accounts.ts';
import { roleMapping } from '../../src/oidc/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Store } from '../../src/store/index.ts';
import { temporaryPlace } from '../store/contract/life.ts';
import { workspace } from '../store/samples.ts';

const IDENTITY = {
	issuer: 'https://login.example',
	subject: 'ada',
	email: 'ada@shop.example',
	isEmailVerified: true,
	name: 'Ada',
	claims: { groups: ['staff'] },
};

test('a first sign-in finds the account that another sign-in of the person makes between its two searches', async (t) => {
	await using store = await openSqliteStore({ dataDir: await temporaryPlace(t), writer: workerEntry('store') });
	const record = workspace();
	const { id: workspaceId } = record;
	await store.commit({
		write: [
			{ op: 'insert', kind: 'workspaces', record },
			{ op: 'insert', kind: 'workspace_guards', record: { id: workspaceId, created_at: 1 } },
		],
	});
	const accounts = (at: Pick<Store, 'get' | 'list'>) =>
		new OidcAccounts({ store: at, roles: roleMapping('groups', ['staff=member']), workspaceId });
	const signIn = async (at: Pick<Store, 'get' | 'list'>) => {
		const account = await accounts(at).accountOf(IDENTITY, 1);
		assert.ok(!('refusal' in account), JSON.stringify(account));
		return account;
	};
	let first: string | null = null;
	const list: Store['list'] = async (kind, query) => {
		if (first === null && Object.hasOwn(query.where, 'email')) {
			const { user, expect, write } = await signIn(store);
			first = user.id;
			assert.equal((await store.commit({ expect, write })).outcome, 'committed');
		}
		return store.list(kind, query);
	};
	const second = await signIn({ get: store.get.bind(store), list });
	assert.deepEqual([second.user.id, second.write], [first, []]);
});
