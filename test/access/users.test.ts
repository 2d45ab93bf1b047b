import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { insertWorkspace, Passwords, Users } from '../../src/access/index.ts';
import { newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { PASSWORD, quickDerive, standingClock } from './people.ts';

const folder = await mkdtemp(join(tmpdir(), 'parley-users-'));
const store = await openSqliteStore({ dataDir: folder, writer: workerEntry('store') });
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(folder, { recursive: true, force: true });
});

const clock = standingClock();
const users = new Users({ store, passwords: new Passwords(quickDerive), clock });
const ALL = { scopes: ['*'] as const };
const ANY = { scopes: ['*'] as const, versions: null };
const DAY = 24 * 3_600_000;

async function workspace(): Promise<string> {
	const id = newId('workspace');
	await store.commit({ write: insertWorkspace(id, 'Acme', clock.now()) });
	return id;
}

async function owners(workspace_id: string) {
	return store.list('users', { where: { workspace_id, role: 'owner' }, order: 'asc', limit: 99 });
}

/** How many were carried out, and why the others were not. */
async function outcomes(tasks: Promise<unknown>[]): Promise<{ done: number; codes: string[] }> {
	const ends = await Promise.allSettled(tasks);
	const codes = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason.code)] : []));
	return { done: ends.length - codes.length, codes: [...new Set(codes)] };
}

test('of twenty who are made at once with one email, one is made', async () => {
	const id = await workspace();
	const emails = ['Ada@Example.com', 'ada@example.com', 'ADA@EXAMPLE.COM', 'ada@EXAMPLE.com'];
	const made = Array.from({ length: 20 }, (_, at) => users.create(id, { email: emails[at % 4] as string }, ALL));
	assert.deepEqual(await outcomes(made), { done: 1, codes: ['invalid_request'] });
	const [only, ...more] = await store.list('users', { where: { workspace_id: id }, order: 'asc', limit: 9 });
	assert.deepEqual([only?.email, only?.name, only?.role, more], ['ada@example.com', 'ada', 'member', []]);
});

test('two who take one email at once do not both get it, and a new user does not either', async () => {
	const id = await workspace();
	const made = await Promise.all(['a@x.example', 'b@x.example'].map((email) => users.create(id, { email }, ALL)));
	const renamed = made.map(({ user }) => users.change(id, user.id, { email: 'C@x.example' }, ANY));
	assert.deepEqual(await outcomes([...renamed, users.create(id, { email: 'c@x.example' }, ALL)]), {
		done: 1,
		codes: ['invalid_request'],
	});
});

test('of owners who step down, go, or are made members at once, one remains', async () => {
	const id = await workspace();
	const made = await Promise.all(
		Array.from({ length: 8 }, (_, at) => users.create(id, { email: `o${at}@x.example`, role: 'owner' }, ALL)),
	);
	const leaving = made.map(({ user }, at) =>
		at % 2 === 0 ? users.remove(id, user.id, null) : users.change(id, user.id, { role: 'member' }, ANY),
	);
	assert.deepEqual(await outcomes(leaving), { done: 7, codes: ['invalid_request'] });
	assert.equal((await owners(id)).length, 1);
});

test('a link is good once: of those who use it at once, one sets the password', async () => {
	const id = await workspace();
	const { token, user } = await users.create(id, { email: 'once@x.example' }, ALL);
	const passwords = Array.from({ length: 10 }, (_, at) => `${PASSWORD} ${at}`);
	const set = passwords.map((password) => users.setPassword(token, password));
	assert.deepEqual(await outcomes(set), { done: 1, codes: ['invalid_request'] });
	const stored = await store.get('users', user.id);
	assert.equal(stored?.password_link_hash, null);
	assert.ok(stored?.password_hash);
});

test('a link is good for a day, and no more once there is a newer one', async () => {
	const id = await workspace();
	const { token, user } = await users.create(id, { email: 'day@x.example' }, ALL);
	const newer = await users.invite(id, user.id, ALL);
	await assert.rejects(users.setPassword(token, PASSWORD), { code: 'invalid_request' });
	clock.advance(DAY - 1);
	await users.setPassword(newer.token, PASSWORD);
	const late = await users.invite(id, user.id, ALL);
	clock.advance(DAY);
	await assert.rejects(users.setPassword(late.token, PASSWORD), { code: 'invalid_request' });
});

test('nobody makes anybody who may do more than themselves', async () => {
	const id = await workspace();
	const settings = { scopes: ['settings:read', 'settings:write'] as const };
	const refused = { code: 'insufficient_scope' };
	const owner = await users.create(id, { email: 'owner@x.example', role: 'owner' }, ALL);
	const member = await users.create(id, { email: 'member@x.example', role: 'member' }, ALL);
	await assert.rejects(users.create(id, { email: 'new@x.example', role: 'owner' }, settings), refused);
	await assert.rejects(users.create(id, { email: 'new@x.example', role: 'member' }, settings), refused);
	const change = { ...settings, versions: null };
	await assert.rejects(users.change(id, member.user.id, { role: 'owner' }, change), refused);
	await assert.rejects(users.invite(id, owner.user.id, settings), refused);
	assert.equal((await users.change(id, member.user.id, { name: 'Bo' }, change)).name, 'Bo');
});
