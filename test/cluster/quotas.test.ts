import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { insertWorkspace, Passwords, requirePlanCapacity, Users, workspaceGuardParts } from '../../src/access/index.ts';
import { AppError, newId, systemClock } from '../../src/base/index.ts';
import { dayOf, decideAndCommit, type Store, type Write } from '../../src/store/index.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/index.ts';
import * as samples from '../store/samples.ts';
import { quickDerive } from '../support/app.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';

const ALL = { scopes: ['*'] as const };

suite('quotas in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let stores: PostgresStore[];
	before(async () => {
		server = await startPostgres();
		const url = await server.database('quotas');
		stores = [await openPostgresStore({ url }), await openPostgresStore({ url })];
	});
	after(async () => {
		for (const store of stores) await store[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});

	async function addWorkspace(plan: string): Promise<string> {
		const id = newId('workspace');
		const write = [
			...insertWorkspace(id, 'Acme', Date.now()),
			{ op: 'patch', kind: 'workspaces', id, set: { plan } } as const,
		];
		await stores[0]?.commit({ write });
		return id;
	}

	/** Calls `attempt` many times at once, in turns on the two nodes. @returns how many succeeded; the others need this code */
	async function succeeded(count: number, code: string, attempt: (store: Store) => Promise<unknown>): Promise<number> {
		const attempts = Array.from({ length: count }, (_, at) => attempt(stores[at % 2] as Store));
		const outcomes = await Promise.allSettled(attempts);
		for (const outcome of outcomes) {
			if (outcome.status === 'fulfilled') continue;
			assert.ok(outcome.reason instanceof AppError && outcome.reason.code === code, String(outcome.reason));
		}
		return outcomes.filter(({ status }) => status === 'fulfilled').length;
	}

	test('two nodes at once make no more assistants than the plan allows', async () => {
		const workspace_id = await addWorkspace('free');
		const create = (store: Store) =>
			decideAndCommit(store, async () => {
				const { expect, write } = await requirePlanCapacity(store, workspace_id, { assistants: 1 });
				const insert: Write = { op: 'insert', kind: 'assistants', record: samples.assistant({ workspace_id }) };
				return { commit: { expect, write: [insert, ...write] }, result: undefined };
			});
		assert.equal(await succeeded(12, 'plan_limit_exceeded', create), 3);
		assert.equal((await stores[1]?.assistants.planUsage(workspace_id))?.assistants, 3);
	});

	test('two nodes at once make no more webhook endpoints than a workspace may have', async () => {
		const workspace_id = await addWorkspace('unlimited');
		const create = (store: Store) =>
			decideAndCommit(store, async () => {
				const guard = await workspaceGuardParts(store, workspace_id);
				const existing = await store.list('webhooks', { where: { workspace_id }, order: 'asc', limit: 5 });
				if (existing.length >= 5) throw new AppError('plan_limit_exceeded', 'There are five.');
				const insert: Write = { op: 'insert', kind: 'webhooks', record: samples.webhook({ workspace_id }) };
				return { commit: { expect: guard.expect, write: [insert, ...guard.write] }, result: undefined };
			});
		assert.equal(await succeeded(14, 'plan_limit_exceeded', create), 5);
	});

	test('two nodes at once reserve no more than a budget, and count what others reserve', async () => {
		const workspace_id = await addWorkspace('unlimited');
		const deployment_id = newId('deployment');
		const day = dayOf(Date.now());
		const spender = { workspace_id, deployment_id, visitor_id: null, model: 'openai/a' };
		const limits = [{ dimension: 'workspace', amount: 100, from: day, to: day }] as const;
		const reserve = async (store: Store) => {
			const ids = { message_id: newId('message'), conversation_id: newId('conversation') };
			const write = { op: 'spending.reserve', ...ids, spender, day, amount: 10, limits: [...limits] } as const;
			const { outcome } = await store.commit({ write: [write] });
			if (outcome !== 'committed') throw new AppError('plan_limit_exceeded', outcome);
		};
		assert.equal(await succeeded(30, 'plan_limit_exceeded', reserve), 10);
	});

	const usersOn = (store: Store) => new Users({ store, passwords: new Passwords(quickDerive), clock: systemClock });

	test('two nodes at once make one user with an email', async () => {
		const workspace_id = await addWorkspace('unlimited');
		const create = (store: Store) => usersOn(store).create(workspace_id, { email: 'ada@example.com' }, ALL).commit();
		assert.equal(await succeeded(8, 'invalid_request', create), 1);
	});

	test('of two owners who demote each other on two nodes at once, one stays owner', async () => {
		const workspace_id = await addWorkspace('unlimited');
		const emails = ['one@example.com', 'two@example.com'];
		const owners = emails.map((email) =>
			samples.user({ workspace_id, email, role: 'owner', deactivated_at: null, oidc_issuer: null, oidc_subject: null }),
		);
		await stores[0]?.commit({ write: owners.map((record): Write => ({ op: 'insert', kind: 'users', record })) });
		const outcomes = await Promise.allSettled(
			owners.map(({ id }, at) =>
				usersOn(stores[at] as Store)
					.change(workspace_id, id, { role: 'member' }, { ...ALL, versions: null })
					.commit(),
			),
		);
		assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
		const left = await stores[0]?.list('users', { where: { workspace_id, role: 'owner' }, order: 'asc', limit: 9 });
		assert.equal(left?.length, 1);
	});
});
