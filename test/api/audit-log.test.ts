import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import Database from 'better-sqlite3';
import { isAudited, type Operation, operations } from '../../src/contract/index.ts';
import { databaseFile } from '../../src/store/index.ts';
import { startIssuer } from '../access/identity-provider.ts';
import {
	addUser,
	type CookieClient,
	openCookieClient,
	PASSWORD,
	startAppWithUsers,
	tokenOf,
} from '../access/people.ts';
import { beginTotp, firstStep, setUpTotp, totpCode } from '../access/totp.ts';
import { PausablePool } from '../knowledge/pausable-pool.ts';
import { until } from '../support/until.ts';
import { apiPeer } from '../tools/api-peer.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { createApiFixture, createResource, untilProcessed, untilSettled, upload } from './fixture.ts';

const pool = new PausablePool();
const issuer = await startIssuer();
after(() => issuer[Symbol.asyncDispose]());
issuer.people.set('linus', { email: 'linus@shop.example', email_verified: true, groups: ['staff'] });
const people = await startAppWithUsers({
	settings: { rate_limit: 0, allow_private_network: true, ...issuer.settings },
	overrides: { pool },
});
const { app, owner, signIn } = people;
after(() => people[Symbol.asyncDispose]());

const LOG = '/api/v1/audit-log';
const BASES = '/api/v1/knowledge-bases';

interface Change {
	path: string;
	body?: unknown;
	/** Who sends it. Default: the first key. */
	by?: Pick<CookieClient, 'call'>;
}

/** What an operation does outside of the store, after which its record is written. */
const ACTS_OUTSIDE = new Set(['testTool', 'testWebhook']);

const audited = Object.entries<Operation>(operations).flatMap(([id, operation]) =>
	isAudited(operation) ? [{ id, operation }] : [],
);

/** A request of every operation that leaves a record, by its operationId, in an order in which each one works. */
async function changeOfEachOperation(): Promise<Record<string, Change>> {
	const { knowledgeBase, assistant, deployment } = await createApiFixture(app, { texts: ['Tea.'] });
	const peer = await apiPeer();
	const tool = { type: 'api', config: { method: 'GET', url: `${peer.origin}/` } };
	const toolId = await createResource(app, '/api/v1/tools', { ...tool, name: 'first' });
	const spareBase = await createResource(app, BASES, { name: 'Spare' });
	const { body: broken } = await upload(app, knowledgeBase, 'broken.pdf', { bytes: '%PDF-1.7 and nothing else' });
	await untilProcessed(app, knowledgeBase, broken.id);
	const hook = await startReceiver(app, ['assistant.updated']);
	after(() => Promise.all([hook[Symbol.asyncDispose](), peer[Symbol.asyncDispose]()]));
	await app.call('PATCH', `/api/v1/assistants/${assistant}`, { description: 'Makes an event.' });
	await hook.waitFor(1);
	const deliveries = `${hook.path}/deliveries`;
	const delivery = await until('a delivery', async () => (await app.call('GET', deliveries)).body.data[0]);
	const sources = `${BASES}/${spareBase}/sources`;
	const source = await createResource(app, sources, { type: 'url', url: `${app.url}/`, refresh_hours: null });
	await until(
		'the run has ended',
		async () => (await app.call('GET', `${sources}/${source}`)).body.status !== 'running',
	);
	await untilSettled(app, spareBase);
	const message = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello?' });
	const conversation = `/api/v1/conversations/${message.body.conversation_id}`;
	const questions = await unansweredQuestions(deployment);
	const notes = `/api/v1/conversations/${message.body.conversation_id}/notes`;
	const note = await createResource(app, notes, { content: 'Hm.' });
	const canned = '/api/v1/canned-replies';
	const reply = await createResource(app, canned, { shortcut: 'hi', content: 'Hello!' });
	const key = await createResource(app, '/api/v1/api-keys', { name: 'Old' });
	const user = await createResource(app, '/api/v1/users', { email: 'ada@shop.example' });
	const invited = await app.call('POST', '/api/v1/users', { email: 'grace@shop.example' });
	await addUser(app, 'leaves@shop.example', 'member');
	const leaving = await signIn('leaves@shop.example');
	const session = { email: 'leaves@shop.example', password: PASSWORD };
	const elsewhere = await signIn('leaves@shop.example');
	await signIn('leaves@shop.example');
	const { id: elsewhereId } = (await elsewhere.call('GET', '/api/v1/session')).body;
	await addUser(app, 'phone@shop.example', 'member');
	const confirming = await signIn('phone@shop.example');
	const secret = await beginTotp(confirming);
	const lostId = await addUser(app, 'lost@shop.example', 'member');
	const { recoveryCodes } = await setUpTotp(await signIn('lost@shop.example'));
	const pending = { cookie: await firstStep(openCookieClient(app), 'lost@shop.example') };
	const continuing = openCookieClient(app);
	const base = `${BASES}/${knowledgeBase}`;
	const assistantPath = `/api/v1/assistants/${assistant}`;
	return {
		createAssistant: { path: '/api/v1/assistants', body: { name: 'Second' } },
		updateAssistant: { path: assistantPath, body: { name: 'New name', description: 'Secret words' }, by: owner },
		attachKnowledgeBase: { path: `${assistantPath}/knowledge-bases`, body: { knowledge_base_id: spareBase } },
		detachKnowledgeBase: { path: `${assistantPath}/knowledge-bases/${spareBase}` },
		attachTool: { path: `${assistantPath}/tools`, body: { tool_id: toolId } },
		detachTool: { path: `${assistantPath}/tools/${toolId}` },
		createKnowledgeBase: { path: BASES, body: { name: 'Third' } },
		updateKnowledgeBase: { path: base, body: { name: 'Teas' } },
		addDocument: { path: `${base}/documents`, body: { source_type: 'text', content: 'Coffee.' } },
		retryDocument: { path: `${base}/documents/${broken.id}/retry` },
		deleteDocument: { path: `${base}/documents/${broken.id}` },
		reindexKnowledgeBase: { path: `${base}/reindex` },
		stopReindex: { path: `${base}/reindex/stop` },
		createSource: { path: sources, body: { type: 'url', url: `${app.url}/`, refresh_hours: null } },
		updateSource: { path: `${sources}/${source}`, body: { refresh_hours: 24 } },
		pauseSource: { path: `${sources}/${source}/pause` },
		resumeSource: { path: `${sources}/${source}/resume` },
		refreshSource: { path: `${sources}/${source}/refresh` },
		deleteSource: { path: `${sources}/${source}` },
		createTool: { path: '/api/v1/tools', body: { ...tool, name: 'second' } },
		updateTool: { path: `/api/v1/tools/${toolId}`, body: { description: 'Looks up.' } },
		testTool: { path: `/api/v1/tools/${toolId}/test`, body: {} },
		deleteTool: { path: `/api/v1/tools/${toolId}` },
		createDeployment: { path: '/api/v1/deployments', body: { assistant_id: assistant } },
		updateDeployment: { path: `/api/v1/deployments/${deployment}`, body: { name: 'Shop window' } },
		resolveUnanswered: { path: `/api/v1/stats/unanswered/${questions[0]}/resolve`, body: {} },
		dismissUnanswered: { path: `/api/v1/stats/unanswered/${questions[1]}/dismiss` },
		deleteNote: { path: `${notes}/${note}` },
		createCannedReply: { path: canned, body: { shortcut: 'bye', content: 'Bye!' } },
		updateCannedReply: { path: `${canned}/${reply}`, body: { content: 'Hi!' } },
		deleteCannedReply: { path: `${canned}/${reply}` },
		takeOverConversation: { path: `${conversation}/takeover` },
		releaseConversation: { path: `${conversation}/release` },
		updateConversation: { path: conversation, body: { title: 'About tea' } },
		deleteConversation: { path: `${conversation}?purge=true` },
		archiveDeployment: { path: `/api/v1/deployments/${deployment}` },
		createWebhook: { path: '/api/v1/webhooks', body: { url: `${hook.url}/2`, events: ['message.created'] } },
		updateWebhook: { path: hook.path, body: { description: 'Ours' } },
		rotateWebhookSecret: { path: `${hook.path}/rotate-secret` },
		testWebhook: { path: `${hook.path}/test` },
		retryDelivery: { path: `${deliveries}/${delivery.id}/retry` },
		replayWebhook: { path: `${hook.path}/replay`, body: { since: new Date(Date.now() - 60_000).toISOString() } },
		deleteWebhook: { path: hook.path },
		createApiKey: { path: '/api/v1/api-keys', body: { name: 'New' } },
		revokeApiKey: { path: `/api/v1/api-keys/${key}` },
		createUser: { path: '/api/v1/users', body: { email: 'new@shop.example' } },
		createPasswordLink: { path: `/api/v1/users/${user}/password-link` },
		updateUser: { path: `/api/v1/users/${user}`, body: { name: 'Ada' } },
		deleteUser: { path: `/api/v1/users/${user}` },
		exportAuditLog: { path: `${LOG}/export?action=none` },
		exportEndUser: { path: '/api/v1/end-users/export?end_user_id=customer-4711', by: owner },
		updateWorkspace: { path: '/api/v1/workspace', body: { name: 'Shop' } },
		updateAccount: { path: '/api/v1/session/account', body: { name: 'Lea' }, by: leaving },
		beginTotp: { path: '/api/v1/session/totp', body: { current_password: PASSWORD }, by: leaving },
		confirmTotp: {
			path: '/api/v1/session/totp/confirm',
			// When it is sent: a code is valid for a minute.
			get body() {
				return { code: totpCode(secret, Date.now()) };
			},
			by: confirming,
		},
		disableTotp: { path: '/api/v1/session/totp/disable', body: { current_password: PASSWORD }, by: confirming },
		continueSignIn: {
			path: '/api/v1/session/second-factor',
			body: { code: recoveryCodes[0] },
			by: { call: (method, path, body) => continuing.call(method, path, body, pending) },
		},
		// A sign-in that has failed begins again.
		finishOidcSignIn: { path: '/api/v1/session/oidc/callback', by: { call: finishOidcSignIn } },
		resetUserTotp: { path: `/api/v1/users/${lostId}/reset-totp` },
		endSession: { path: `/api/v1/sessions/${elsewhereId}`, by: leaving },
		endOtherSessions: { path: '/api/v1/sessions', by: leaving },
		deleteSession: { path: '/api/v1/session', by: leaving },
		createSession: { path: '/api/v1/session', body: session, by: leaving },
		setPassword: {
			path: '/api/v1/session/password',
			body: { token: tokenOf(invited.body.password_link), password: PASSWORD },
			by: leaving,
		},
		archiveAssistant: { path: assistantPath },
		deleteKnowledgeBase: { path: `${BASES}/${spareBase}` },
		// The last: it continues in the background.
		eraseEndUser: { path: '/api/v1/erasures', body: { end_user_id: 'customer-4711' } },
	};
}

/** Ends a sign-in by OpenID Connect, which it begins. */
async function finishOidcSignIn(method: string, path: string) {
	const browser = openCookieClient(app);
	const begun = await browser.call('POST', '/api/v1/session/oidc');
	const answer = await issuer.authenticate(begun.body.url, 'linus');
	return browser.call(method, path, answer, { cookie: begun.headers.getSetCookie()[0]?.split(';')[0] as string });
}

/** Two groups of questions without an answer, by their ids. */
async function unansweredQuestions(deployment: string): Promise<string[]> {
	for (const content of ['Where is the lighthouse?', 'Who repairs umbrellas?'])
		await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
	let ids: string[] = [];
	await until('both questions are listed', async () => {
		const { data } = (await app.call('GET', '/api/v1/stats/unanswered')).body;
		ids = data.map(({ id }: { id: string }) => id);
		return ids.length >= 2;
	});
	return ids;
}

const send = (operation: Operation, { path, body, by = app }: Change) => by.call(operation.method, path, body);

async function newestRecords(query = '') {
	const { status, body } = await app.call('GET', `${LOG}?limit=100${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	return body.data;
}

/** The state of all resources, but for what background work changes. */
function stateOf(db: Database.Database): unknown {
	const tables = ['assistants', 'tools', 'deployments', 'conversations', 'users', 'workspaces'];
	const versions = tables.map((table) => db.prepare(`SELECT id, version FROM ${table} ORDER BY id`).all());
	// A source adds documents in the background.
	const tablesOfIds = ['api_keys', 'sessions', 'webhooks', 'documents WHERE source_id IS NULL'];
	const ids = tablesOfIds.map((table) => db.prepare(`SELECT id FROM ${table} ORDER BY id`).all());
	const bases = db.prepare('SELECT id, name, rebuilding IS NULL FROM knowledge_bases ORDER BY id').raw().all();
	const sources = db.prepare('SELECT id, refresh_hours FROM sources ORDER BY id').raw().all();
	return [versions, ids, bases, sources];
}

test('each operation that changes something, and each export of the log or of an end user, leaves one record in the transaction of its change', async (t) => {
	const changes = await changeOfEachOperation();
	assert.deepEqual(audited.map(({ id }) => id).toSorted(), Object.keys(changes).toSorted());
	const db = new Database(databaseFile(app.dataDir));
	t.after(() => db.close());
	const table = new Map(audited.map(({ id, operation }) => [id, operation]));
	for (const [action, change] of Object.entries(changes)) {
		const operation = table.get(action) as Operation;
		if (action === 'reindexKnowledgeBase') pool.pause();
		const before = (await newestRecords()).length;
		if (!ACTS_OUTSIDE.has(action)) {
			// As a crash between the change and its record would be: the change must not be there without the record.
			db.exec(`CREATE TRIGGER crash BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no record'); END`);
			const state = stateOf(db);
			const failed = await send(operation, change);
			db.exec('DROP TRIGGER crash');
			assert.ok(failed.status >= 500, `${action}: ${failed.status} ${JSON.stringify(failed.body)}`);
			assert.deepEqual(stateOf(db), state, `${action} has changed something without its record`);
		}
		const done = await send(operation, change);
		assert.ok(done.status < 300, `${action}: ${JSON.stringify(done.body)}`);
		const records = (await newestRecords()).slice(0, (await newestRecords()).length - before);
		const actions = records.map((record: { action: string }) => record.action);
		assert.deepEqual(
			actions.filter((name: string) => name !== 'completeErasure').toSorted(),
			// The first sign-in of a person makes the account.
			action === 'finishOidcSignIn' ? ['createUser', action] : [action],
		);
		if (action === 'stopReindex') pool.resume();
	}
});

test('a record names the actor, the resource and the fields, and never a value', async () => {
	const id = await createResource(app, '/api/v1/assistants', { name: 'Named' });
	const change = await owner.call('PATCH', `/api/v1/assistants/${id}`, { description: 'words that stay secret' });
	const [record, creation] = await newestRecords(`&resource=${id}`);
	const { user } = (await owner.call('GET', '/api/v1/session')).body;
	const { id: recordId, created_at, ...rest } = record;
	assert.match(recordId, /^aud_/);
	assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000);
	assert.deepEqual(rest, {
		actor: { type: 'user', id: user.id, name: user.name },
		action: 'updateAssistant',
		resource: { type: 'assistant', id, name: 'Named' },
		fields: ['description'],
		path: `/api/v1/assistants/${id}`,
		request_id: change.headers.get('x-request-id'),
		address: '127.0.0.1',
		details: null,
	});
	assert.equal(creation.actor.type, 'api_key');
	assert.deepEqual([creation.action, creation.fields], ['createAssistant', ['name']]);

	await app.call('POST', '/api/v1/users', { email: 'invisible@shop.example' });
	const text = JSON.stringify(await newestRecords());
	for (const secret of ['stay secret', PASSWORD, 'set-password#', 'About tea', 'invisible@']) {
		assert.ok(!text.includes(secret), secret);
	}
});

test('requests that change nothing, or are repeated, leave no further record', async () => {
	const id = await createResource(app, '/api/v1/assistants', { name: 'Once' });
	const ofAssistant = async () => (await newestRecords(`&resource=${id}`)).length;
	assert.equal((await app.call('PATCH', `/api/v1/assistants/${id}`, { status: 'active' })).status, 200);
	assert.equal((await app.call('PATCH', `/api/v1/assistants/${id}`, { name: '' })).status, 400);
	assert.equal(await ofAssistant(), 1);
	const before = (await newestRecords('&action=createTool')).length;
	const tool = { name: 'again', type: 'api', config: { method: 'GET', url: 'https://tools.example/' } };
	for (let repeat = 0; repeat < 3; repeat++) {
		assert.equal((await app.call('POST', '/api/v1/tools', tool, { 'idempotency-key': 'tool' })).status, 201);
	}
	assert.equal((await newestRecords('&action=createTool')).length, before + 1);
});

test('messages of conversations and requests of visitors leave no record', async () => {
	const { deployment } = await createApiFixture(app);
	const before = (await newestRecords())[0].id;
	const message = { deployment_id: deployment, content: 'Hello?' };
	const { body: reply } = await app.call('POST', '/api/v1/messages', message);
	assert.equal((await app.callAsVisitor('POST', '/api/v1/widget/messages', { ...message })).status, 201);
	await app.call('POST', `/api/v1/messages/${reply.id}/feedback`, { rating: 'up' });
	await app.call('POST', `/api/v1/conversations/${reply.conversation_id}/stop`);
	assert.equal((await newestRecords())[0].id, before);
});

test('the log is read in pages, by actor, action, resource and time, by owners and admins of its workspace', async () => {
	const all: { id: string; created_at: string }[] = [];
	for (let cursor: string | null = ''; cursor !== null; ) {
		const page: { data: typeof all; next_cursor: string | null } = (
			await app.call('GET', `${LOG}?limit=7${cursor ? `&cursor=${cursor}` : ''}`)
		).body;
		all.push(...page.data);
		cursor = page.next_cursor;
	}
	assert.deepEqual(
		all.slice(0, 100).map(({ id }) => id),
		(await newestRecords()).map(({ id }: { id: string }) => id),
	);
	const { user } = (await owner.call('GET', '/api/v1/session')).body;
	const byOwner = await newestRecords(`&actor=${user.id}`);
	assert.ok(byOwner.length > 0 && byOwner.every(({ actor }: { actor: { id: string } }) => actor.id === user.id));
	const middle = all[Math.floor(all.length / 2)]?.created_at as string;
	const later = await newestRecords(`&created_after=${middle}`);
	const earlier = await newestRecords(`&created_before=${middle}`);
	assert.deepEqual(
		[...later, ...earlier].map(({ id }) => id),
		all.filter(({ created_at }) => created_at !== middle).map(({ id }) => id),
	);
	await addUser(app, 'curious@shop.example', 'member');
	assert.equal((await (await signIn('curious@shop.example')).call('GET', LOG)).status, 403);
});
