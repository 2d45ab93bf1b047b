import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { newId } from '../../src/base/index.ts';
import { addUser, assertRefused, startAppWithUsers } from '../access/people.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createResource } from './fixture.ts';

const people = await startAppWithUsers();
const { app, owner, signIn } = people;
const store = await openStoreDirectly(app);
after(async () => {
	await store[Symbol.asyncDispose]();
	await people[Symbol.asyncDispose]();
});

const LOG = '/api/v1/audit-log';
const EXPORT = `${LOG}/export`;

const download = (query = '', key = app.key) =>
	fetch(`${app.url}${EXPORT}${query}`, { headers: { authorization: `Bearer ${key}` } });

async function exportedRecords(query = '') {
	const text = await (await download(query)).text();
	return text
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line));
}

/** The rows of a CSV file whose cells are all quoted (RFC 4180). */
function parseCsv(text: string): string[][] {
	const rows: string[][] = [[]];
	for (const [, cell = '', end] of text.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
		rows.at(-1)?.push(cell.replaceAll('""', '"'));
		if (end !== ',') rows.push([]);
	}
	return rows.slice(0, -1);
}

const workspaceId = await firstWorkspace(store);

/** Inserts records as the server writes them. */
async function insertRecords(count: number, more: object): Promise<void> {
	const now = Date.now() - 3_600_000;
	const recordAt = (at: number) => ({
		id: newId('audit_record'),
		workspace_id: workspaceId,
		actor_type: 'user' as const,
		actor_id: 'user_export',
		actor_name: 'Ada',
		action: 'updateAssistant',
		resource_type: 'assistant' as const,
		resource_id: 'asst_export',
		resource_name: 'Guide',
		fields: ['name', 'model'],
		path: '/api/v1/assistants/asst_export',
		request_id: 'request',
		address: '192.0.2.7',
		// Several are of one millisecond, so that pages end between equal times.
		created_at: now + Math.floor(at / 7),
		expires_at: now + 86_400_000,
		details: null,
		...more,
	});
	for (let at = 0; at < count; at += 250) {
		const records = Array.from({ length: Math.min(250, count - at) }, (_, index) => recordAt(at + index));
		await store.commit({
			write: records.map((record) => ({ op: 'insert' as const, kind: 'audit_log' as const, record })),
		});
	}
}

test('an export has each record once, oldest first, as the list shows it, and is recorded itself', async () => {
	await insertRecords(730, { actor_id: 'user_many' });
	const response = await download('?actor=user_many');
	assert.equal(response.headers.get('content-type'), 'application/jsonl');
	assert.equal(response.headers.get('cache-control'), 'no-store');
	assert.equal(response.headers.get('content-disposition'), `attachment; filename="audit-log-${workspaceId}.jsonl"`);
	await response.arrayBuffer();
	const records = await exportedRecords('?actor=user_many');
	assert.equal(records.length, 730);
	assert.equal(new Set(records.map(({ id }) => id)).size, 730);
	const { body } = await app.call('GET', `${LOG}?actor=user_many&order=asc&limit=100`);
	assert.deepEqual(records.slice(0, 100), body.data);

	const [newest] = (await app.call('GET', `${LOG}?limit=1`)).body.data;
	assert.deepEqual([newest.action, newest.fields, newest.path], ['exportAuditLog', ['actor'], EXPORT]);
	const last = (await exportedRecords()).at(-1);
	assert.equal(last.action, 'exportAuditLog', 'the last record is that of the export');
});

test('the filters are those of the list', async () => {
	const assistant = await createResource(app, '/api/v1/assistants', { name: 'Filtered' });
	const { user } = (await owner.call('GET', '/api/v1/session')).body;
	for (const query of [
		'action=createAssistant',
		`actor=${user.id}`,
		`resource=${assistant}`,
		'created_before=2020-01-01T00:00:00Z',
	]) {
		const { body } = await app.call('GET', `${LOG}?order=asc&limit=100&${query}`);
		assert.deepEqual(await exportedRecords(`?${query}`), body.data, query);
	}
	for (const query of ['?format=xml', '?limit=5', '?created_after=yesterday']) {
		assertRefused(await app.call('GET', EXPORT + query), 400, 'invalid_request', query);
	}
});

test('the CSV has the same values, and no cell that a spreadsheet reads as a formula', async () => {
	const hostile = ['=1+1', '+SUM(A1)', '-2', '@cmd', '\tx', '\r=1', '＝1', 'say "hi", twice\nand more', 'Zoë'];
	for (const actor_name of hostile) await insertRecords(1, { actor_id: 'user_hostile', actor_name });
	const response = await download('?format=csv&actor=user_hostile');
	assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
	assert.match(response.headers.get('content-disposition') ?? '', /\.csv"$/);
	const bytes = Buffer.from(await response.arrayBuffer());
	assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
	const [head, ...rows] = parseCsv(bytes.subarray(3).toString());
	const column = (name: string) => rows.map((row) => row[head?.indexOf(name) ?? -1]);
	assert.equal(rows.length, hostile.length);
	const names = hostile.map((name, at) => (at < 7 ? `'${name}` : name));
	assert.deepEqual(column('actor_name').toSorted(), names.toSorted());
	for (const cell of rows.flat()) assert.doesNotMatch(cell, /^[=+\-@\t\r＝]/);
	const records = await exportedRecords('?actor=user_hostile');
	for (const name of ['id', 'created_at', 'action', 'path', 'request_id', 'address']) {
		assert.deepEqual(
			column(name),
			records.map((record) => record[name]),
			name,
		);
	}
	assert.deepEqual(
		column('fields'),
		records.map(({ fields }) => fields.join(' ')),
	);
	assert.deepEqual(
		column('resource_id'),
		records.map(({ resource }) => resource.id),
	);
});

test('owners, admins and keys for the settings export the log of their workspace', async () => {
	for (const [role, status] of [
		['admin', 200],
		['member', 403],
		['viewer', 403],
	] as const) {
		await addUser(app, `${role}@export.example`, role);
		const { cookie } = await signIn(`${role}@export.example`);
		const response = await fetch(`${app.url}${EXPORT}`, { headers: { cookie: `parley_session=${cookie}` } });
		await response.arrayBuffer();
		assert.equal(response.status, status, role);
	}
	const refused = await download('', await addKey(store, workspaceId, ['assistants:read']));
	assert.equal(refused.status, 403);
	await refused.arrayBuffer();
	const other = await addWorkspace(store);
	const records = (await (await download('', other.key)).text()).trimEnd().split('\n');
	assert.deepEqual(
		records.map((line) => JSON.parse(line).action),
		['exportAuditLog'],
	);
});
