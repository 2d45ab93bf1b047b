import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { VisitorTokenSettings } from '../../src/access/index.ts';
import { AppError, createLog, deferred, newId, SecretBox } from '../../src/base/index.ts';
import { Deployments, presentDeployment, type VisibleDeployment } from '../../src/deployments/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import type { Commit, CommitOutcome, DeploymentRecord, Store } from '../../src/store/index.ts';
import { TestRequest } from '../support/abortable-request.ts';
import { DEFAULT_APPEARANCE } from '../support/default-appearance.ts';
import { IterableSource, itemsOf } from '../support/pull-source.ts';
import { assistantRecord, deploymentRecord } from './records.ts';

const START = Date.UTC(2026, 10, 21);

/** Deployments over a store of two maps. A test sets the outcome of the next commits. */
function setUp() {
	const workspaceId = newId('workspace');
	const assistant = assistantRecord(workspaceId);
	const deployment = deploymentRecord({ workspace_id: workspaceId, assistant_id: assistant.id });
	const rows = new Map<string, { id: string; version: number }>([
		[assistant.id, assistant],
		[deployment.id, deployment],
	]);
	const seen = { loads: 0, commits: [] as Commit[] };
	const next: Array<() => Promise<CommitOutcome>> = [];
	const store = {
		async get(kind: string, id: string) {
			if (kind === 'deployments') seen.loads++;
			return rows.get(id);
		},
		async commit(commit: Commit): Promise<CommitOutcome> {
			const ending = next.shift();
			if (ending) return ending();
			for (const { kind, id, version } of commit.expect ?? []) {
				if (rows.get(id)?.version !== version) return { outcome: 'conflict', kind, id };
			}
			seen.commits.push(commit);
			for (const write of commit.write ?? []) {
				if (write.op === 'insert') rows.set(write.record.id, { ...write.record, version: 1 });
				if (write.op === 'patch') {
					const old = rows.get(write.id) as { id: string; version: number };
					rows.set(write.id, { ...old, ...write.set, version: old.version + 1 });
				}
			}
			return { outcome: 'committed', seqs: [] };
		},
	} as unknown as Store;
	const clock = { at: START, now: () => clock.at };
	const tokenSettings = new VisitorTokenSettings({
		secrets: new SecretBox(randomBytes(32)),
		network: createNetwork({ allowPrivateNetwork: false }),
	});
	const deployments = new Deployments({ store, clock, log: createLog('silent'), tokenSettings });
	return { workspaceId, assistant, deployment, rows, seen, next, clock, deployments };
}

const isNotFound = (error: unknown): boolean => error instanceof AppError && error.code === 'not_found';

test('the next request gets a change, with new bytes and a new ETag', async () => {
	const { workspaceId, deployment, clock, deployments } = setUp();
	await using _closing = deployments;
	const before = await deployments.visible(deployment.id);
	const { etag } = before.config;
	assert.equal(before.allows('https://shop.example'), true);
	assert.equal(before.allows('https://new.example'), false);
	clock.at += 5_000;
	const changed = await deployments.change(workspaceId, deployment.id, {
		allowed_domains: ['new.example'],
		appearance: { greeting: 'Welcome' },
	});
	assert.equal(changed.updated_at, START + 5_000);
	assert.equal(changed.version, 2);
	const after = deployments.peekVisible(deployment.id);
	assert.ok(after);
	assert.equal(after.allows('https://shop.example'), false);
	assert.equal(after.allows('https://new.example'), true);
	assert.notEqual(after.config.etag, etag);
	const { appearance } = JSON.parse(after.config.body.toString());
	assert.deepEqual(appearance, { ...presentDeployment(deployment).appearance, greeting: 'Welcome' });
});

test('a change that the widget cannot see keeps bytes and ETag', async () => {
	const { workspaceId, deployment, deployments } = setUp();
	await using _closing = deployments;
	const { etag, body } = (await deployments.visible(deployment.id)).config;
	await deployments.change(workspaceId, deployment.id, { name: 'Another name', allowed_domains: [] });
	const after = (await deployments.visible(deployment.id)).config;
	assert.equal(after.etag, etag);
	assert.ok(after.body.equals(body));
});

test('does not allow a request without an origin, with any list', async () => {
	const { workspaceId, deployment, deployments } = setUp();
	await using _closing = deployments;
	await deployments.change(workspaceId, deployment.id, { allowed_domains: ['*'] });
	const visible = await deployments.visible(deployment.id);
	assert.equal(visible.allows(null), false);
	assert.equal(visible.allows('null'), false);
	assert.equal(visible.allows('https://any.example'), true);
});

test('visitors do not find an archived deployment until it is reactivated', async () => {
	const { workspaceId, deployment, deployments } = setUp();
	await using _closing = deployments;
	await deployments.change(workspaceId, deployment.id, { status: 'archived' });
	assert.equal(deployments.peekVisible(deployment.id), undefined);
	await assert.rejects(deployments.visible(deployment.id), isNotFound);
	await deployments.change(workspaceId, deployment.id, { status: 'active' });
	assert.equal((await deployments.visible(deployment.id)).record.status, 'active');
});

test('unknown, malformed and foreign ids get the same error, which does not show what exists', async () => {
	const { workspaceId, deployment, deployments } = setUp();
	await using _closing = deployments;
	const responses = new Set<string>();
	const patch = { name: 'Mine now' };
	for (const ask of [
		() => deployments.change(workspaceId, newId('deployment'), patch),
		() => deployments.change(newId('workspace'), deployment.id, patch),
		() => deployments.change(workspaceId, 'dep_nonsense', patch),
		() => deployments.change(workspaceId, '__proto__', patch),
		() => deployments.visible(newId('deployment')),
		() => deployments.visible('dep_nonsense'),
		() => deployments.visible(''),
	]) {
		await assert.rejects(ask(), (error: AppError) => {
			responses.add(`${error.code} ${error.message}`);
			return true;
		});
	}
	assert.deepEqual([...responses], ['not_found The deployment does not exist.']);
	assert.equal((await deployments.visible(deployment.id)).record.name, 'Shop');
});

/** Changes of a deployment that fill its mailbox and wait for the disk until they are released. */
async function occupied({ workspaceId, deployment, next, deployments }: ReturnType<typeof setUp>) {
	const disk = deferred<CommitOutcome>();
	const asked = deferred<void>();
	next.push(() => {
		asked.resolve();
		return disk.promise;
	});
	const change = () => deployments.change(workspaceId, deployment.id, { name: 'New name' });
	const changes = Array.from({ length: 17 }, change);
	await asked.promise;
	await assert.rejects(change(), { code: 'unavailable' });
	return async () => {
		disk.resolve({ outcome: 'fenced' });
		await Promise.allSettled(changes);
	};
}

test('a deployment that is too busy to be changed is not found by another workspace', async () => {
	const scene = setUp();
	await using deployments = scene.deployments;
	const release = await occupied(scene);
	const foreign = deployments.change(newId('workspace'), scene.deployment.id, { name: 'Mine now' });
	await assert.rejects(foreign, { code: 'not_found', message: 'The deployment does not exist.' });
	await release();
});

test('an archived deployment that is too busy to be changed is not found by visitors', async () => {
	const scene = setUp();
	await using deployments = scene.deployments;
	await deployments.change(scene.workspaceId, scene.deployment.id, { status: 'archived' });
	const release = await occupied(scene);
	await assert.rejects(deployments.visible(scene.deployment.id), isNotFound);
	await release();
});

test('archiving an archived deployment and reactivating an active one change nothing', async () => {
	const { workspaceId, deployment, clock, seen, deployments } = setUp();
	await using _closing = deployments;
	const change = (patch: object) => deployments.change(workspaceId, deployment.id, patch);
	for (const status of ['active', 'archived', 'active']) {
		clock.at += 1_000;
		const changed = await change({ status });
		const commits = seen.commits.length;
		clock.at += 1_000;
		assert.equal(await change({ status }), changed, 'the very same');
		assert.equal(await change({}), changed);
		assert.equal(seen.commits.length, commits);
		const stale = deployments.change(workspaceId, deployment.id, { status } as object, [99]);
		await assert.rejects(stale, { code: 'precondition_failed' });
	}
	assert.equal((await change({ status: 'active', name: 'New name' })).name, 'New name');
});

test('an invalid domain changes nothing, neither on disk nor in memory', async () => {
	const { workspaceId, deployment, seen, deployments } = setUp();
	await using _closing = deployments;
	const patch = { name: 'Other', allowed_domains: ['shop.example', 'not a domain'] };
	await assert.rejects(deployments.change(workspaceId, deployment.id, patch), { code: 'invalid_request' });
	const input = { assistant_id: deployment.assistant_id, allowed_domains: ['not a domain'] };
	await assert.rejects(deployments.create(workspaceId, input).commit(), { code: 'invalid_request' });
	assert.deepEqual(seen.commits, []);
	const visible = await deployments.visible(deployment.id);
	assert.equal(visible.record.name, 'Shop');
	assert.equal(visible.allows('https://shop.example'), true);
});

test('a deployment links only to an assistant of its own workspace', async () => {
	const { workspaceId, deployment, rows, deployments } = setUp();
	await using _closing = deployments;
	const foreign = assistantRecord(newId('workspace'));
	rows.set(foreign.id, foreign);
	for (const assistant_id of [foreign.id, newId('assistant'), 'asst_nonsense']) {
		await assert.rejects(deployments.change(workspaceId, deployment.id, { assistant_id }), isNotFound);
		await assert.rejects(deployments.create(workspaceId, { assistant_id }).commit(), isNotFound);
	}
	assert.equal((await deployments.visible(deployment.id)).record.assistant_id, deployment.assistant_id);
});

test('does not serve a change that did not reach the disk', async () => {
	const { workspaceId, deployment, next, deployments } = setUp();
	await using _closing = deployments;
	await deployments.visible(deployment.id);
	next.push(async () => {
		throw new AppError('unavailable', 'The disk is full.');
	});
	const patch = { allowed_domains: ['new.example'] };
	await assert.rejects(deployments.change(workspaceId, deployment.id, patch), { code: 'unavailable' });
	next.push(async () => ({ outcome: 'fenced' }));
	await assert.rejects(deployments.change(workspaceId, deployment.id, patch));
	const visible = await deployments.visible(deployment.id);
	assert.equal(visible.allows('https://new.example'), false);
	assert.equal(visible.record.version, 1);
});

test('visitors get the former configuration until a change is on disk', async () => {
	const { workspaceId, deployment, next, deployments } = setUp();
	await using _closing = deployments;
	await deployments.visible(deployment.id);
	const disk = deferred<CommitOutcome>();
	const asked = deferred<void>();
	next.push(() => {
		asked.resolve();
		return disk.promise;
	});
	const change = deployments.change(workspaceId, deployment.id, { allowed_domains: ['new.example'] });
	await asked.promise;
	assert.equal(deployments.peekVisible(deployment.id)?.allows('https://new.example'), false);
	disk.resolve({ outcome: 'committed', seqs: [] });
	await change;
	assert.equal(deployments.peekVisible(deployment.id)?.allows('https://new.example'), true);
});

test('a change applies to the stored deployment where the one in memory is outdated', async () => {
	const { workspaceId, deployment, rows, deployments } = setUp();
	await using _closing = deployments;
	await deployments.visible(deployment.id);
	rows.set(deployment.id, { ...deployment, name: 'Changed elsewhere', version: 7 } as typeof deployment);
	const changed = await deployments.change(workspaceId, deployment.id, { allowed_domains: [] });
	assert.deepEqual([changed.name, changed.version], ['Changed elsewhere', 8]);
});

test('concurrent requests for a deployment that is not resident share one read', async () => {
	const { deployment, seen, deployments } = setUp();
	await using _closing = deployments;
	const all = await Promise.all(Array.from({ length: 500 }, () => deployments.visible(deployment.id)));
	assert.equal(seen.loads, 1);
	assert.ok(all.every((visible) => visible === all[0]));
});

test('keeps all concurrent changes', async () => {
	const { workspaceId, deployment, deployments } = setUp();
	await using _closing = deployments;
	await Promise.all([
		deployments.change(workspaceId, deployment.id, { name: 'New name' }),
		deployments.change(workspaceId, deployment.id, { features: { streaming: false } }),
		deployments.change(workspaceId, deployment.id, { features: { rich_content: false } }),
		deployments.change(workspaceId, deployment.id, { appearance: { theme: 'dark' } }),
	]);
	const { record } = await deployments.visible(deployment.id);
	assert.equal(record.name, 'New name');
	assert.equal(record.appearance.theme, 'dark');
	assert.deepEqual(record.features, { streaming: false, rich_content: false, jwt_required: false });
	assert.equal(record.version, 5);
});

test('a new deployment has the documented defaults for settings that are not given', async () => {
	const { workspaceId, assistant, deployments } = setUp();
	await using _closing = deployments;
	const input = { assistant_id: assistant.id, appearance: { theme: 'dark' }, features: { streaming: false } } as const;
	const record = await deployments.create(workspaceId, input).commit();
	const { id, ...shown } = presentDeployment(record);
	assert.match(id, /^dep_/);
	assert.deepEqual(shown, {
		name: assistant.name,
		assistant_id: assistant.id,
		allowed_domains: [],
		appearance: {
			...DEFAULT_APPEARANCE,
			theme: 'dark',
			greeting: 'Hi! How can I help you?',
		},
		features: { streaming: false, rich_content: true, jwt_required: false, ai_disclosure: true, handoff: false },
		rate_limit: { messages_per_minute: 20 },
		time_zone: 'UTC',
		budget: null,
		visitor_budget: null,
		retention_days: null,
		jwt: null,
		status: 'active',
		created_at: new Date(START).toISOString(),
		updated_at: new Date(START).toISOString(),
	});
	assert.equal((await deployments.visible(id)).allows('https://shop.example'), false);
});

test('does not return a deployment that could not be stored', async () => {
	const { workspaceId, assistant, next, deployments } = setUp();
	await using _closing = deployments;
	next.push(async () => ({ outcome: 'fenced' }));
	await assert.rejects(deployments.create(workspaceId, { assistant_id: assistant.id }).commit(), {
		code: 'unavailable',
	});
});

const SHARED = { algorithm: 'HS256', secret: 'a secret of the shop, long enough' } as const;

/** The paths in the details of a change's error. */
async function complaints(change: Promise<unknown>): Promise<string[] | undefined> {
	const error = await change.then(
		() => assert.fail('it was taken'),
		(thrown: AppError) => thrown,
	);
	assert.equal(error.code, 'invalid_request', String(error));
	return error.details?.map(({ path }) => path);
}

test('tokens cannot be required without a key to verify them, by any order of changes', async () => {
	const { workspaceId, assistant, deployment, seen, deployments } = setUp();
	await using _closing = deployments;
	const create = (input: object) => deployments.create(workspaceId, { assistant_id: assistant.id, ...input }).commit();
	const change = (patch: object) => deployments.change(workspaceId, deployment.id, patch);
	const required = { features: { jwt_required: true } };
	assert.deepEqual(await complaints(create(required)), ['/jwt']);
	assert.deepEqual(await complaints(create({ ...required, jwt: null })), ['/jwt']);
	assert.deepEqual(await complaints(change(required)), ['/jwt']);
	assert.deepEqual(seen.commits, []);
	assert.equal((await change({ ...required, jwt: SHARED })).features.jwt_required, true);
	assert.deepEqual(await complaints(change({ jwt: null })), ['/jwt']);
	assert.deepEqual(await complaints(change({ ...required, jwt: null })), ['/jwt']);
	assert.deepEqual(await complaints(change({ jwt: { secret: null } })), ['/jwt/secret']);
	assert.equal((await change({ jwt: null, features: { jwt_required: false } })).jwt, null);
	assert.equal((await create({ ...required, jwt: SHARED })).features.jwt_required, true);
});

test('a deployment that was stored without its key can still be renamed and archived', async () => {
	const { workspaceId, deployment, rows, deployments } = setUp();
	await using _closing = deployments;
	rows.set(deployment.id, { ...deployment, features: { ...deployment.features, jwt_required: true } } as never);
	assert.equal((await deployments.change(workspaceId, deployment.id, { name: 'New name' })).name, 'New name');
	assert.equal((await deployments.change(workspaceId, deployment.id, { status: 'archived' })).status, 'archived');
});

test('the next request uses a changed key, and other changes keep the settings object', async () => {
	const { workspaceId, deployment, deployments } = setUp();
	await using _closing = deployments;
	const { jwt } = await deployments.change(workspaceId, deployment.id, { jwt: { ...SHARED, audience: 'chat' } });
	const renamed = await deployments.change(workspaceId, deployment.id, { name: 'New name' });
	assert.equal(renamed.jwt, jwt, 'the very same: what was made of it is not made again');
	await deployments.change(workspaceId, deployment.id, { jwt: { secret: '***', issuer: 'me' } });
	const { record, config } = await deployments.visible(deployment.id);
	assert.deepEqual(record.jwt, { ...jwt, issuer: 'me' });
	assert.doesNotMatch(config.body.toString(), /chat|HS256/, 'visitors do not see the settings');
	assert.equal(presentDeployment(record).jwt?.secret, '***');
});

test('checks a stream that begins after a change of its deployment, and open streams at the change', async () => {
	const { workspaceId, deployment, deployments } = setUp();
	await using _closing = deployments;
	const { record } = await deployments.visible(deployment.id);
	const begin = () =>
		openReadableStream(deployments, record, (current) => {
			if (!current.allows('https://shop.example')) throw new AppError('domain_not_allowed');
		});
	const early = begin();
	assert.equal(await early.receivesEvent(), true);
	await deployments.change(workspaceId, deployment.id, { name: 'New name' });
	const later = begin();
	assert.deepEqual([await early.receivesEvent(), await later.receivesEvent()], [true, true]);
	await deployments.change(workspaceId, deployment.id, { allowed_domains: [] });
	const late = begin();
	for (const { stream, receivesEvent } of [early, later, late]) {
		assert.deepEqual([await receivesEvent(), stream.signal.aborted], [false, true]);
	}
	await deployments.change(workspaceId, deployment.id, { allowed_domains: ['shop.example'], status: 'archived' });
	assert.equal(await begin().receivesEvent(), false);
});

test('checks open streams when it learns of a change by another process', async () => {
	const { workspaceId, deployment, rows, deployments } = setUp();
	await using _closing = deployments;
	const { record } = await deployments.visible(deployment.id);
	const checked: string[] = [];
	const { stream, receivesEvent } = openReadableStream(deployments, record, (current) => {
		checked.push(current.record.name);
	});
	rows.set(deployment.id, { ...deployment, name: 'Changed elsewhere', version: 7 } as typeof deployment);
	await deployments.change(workspaceId, deployment.id, { name: 'Changed here' });
	assert.equal(await receivesEvent(), true);
	assert.equal(checked.at(-1), 'Changed here');
	stream.end();
});

/** Opens a visitor's stream whose source always has another event. */
function openReadableStream(
	deployments: Deployments,
	deployment: DeploymentRecord,
	recheckAccess: (current: VisibleDeployment) => void,
) {
	async function* source() {
		for (;;) yield 'event';
	}
	const stream = deployments.openStream({
		deployment,
		visitor: 'ann',
		expiresAt: null,
		request: new TestRequest(),
		recheckAccess: async (current) => recheckAccess(current),
	});
	const events = itemsOf(stream.untilRevoked(new IterableSource(source())));
	return { stream, receivesEvent: async () => !(await events.next()).done };
}
