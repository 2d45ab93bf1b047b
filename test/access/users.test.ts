import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { insertWorkspace, Passwords, Users } from '../../src/access/index.ts';
import { normaliseEmail } from '../../src/access/user-record.ts';
import { deferred, newId } from '../../src/base/index.ts';
import type { UserPatch } from '../../src/contract/index.ts';
import { quickDerive } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { openTemporaryStore } from '../support/temporary-store.ts';
import { PASSWORD } from './people.ts';

const store = await openTemporaryStore();

const clock = manualWallClock();
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

/** How many calls succeeded, and the error codes of the others. */
async function outcomes(tasks: Promise<unknown>[]): Promise<{ done: number; codes: string[] }> {
	const ends = await Promise.allSettled(tasks);
	const codes = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason.code)] : []));
	return { done: ends.length - codes.length, codes: [...new Set(codes)] };
}

test('of twenty concurrent creations with one email, one succeeds', async () => {
	const id = await workspace();
	const emails = ['Ada@Example.com', 'ada@example.com', 'ADA@EXAMPLE.COM', 'ada@EXAMPLE.com'];
	const made = Array.from({ length: 20 }, (_, at) =>
		users.create(id, { email: emails[at % 4] as string }, ALL).commit(),
	);
	assert.deepEqual(await outcomes(made), { done: 1, codes: ['invalid_request'] });
	const [only, ...more] = await store.list('users', { where: { workspace_id: id }, order: 'asc', limit: 9 });
	assert.deepEqual([only?.email, only?.name, only?.role, more], ['ada@example.com', 'ada', 'member', []]);
});

test('of two users who change to one email at once, one succeeds, and a new user does not get it either', async () => {
	const id = await workspace();
	const made = await Promise.all(
		['a@x.example', 'b@x.example'].map((email) => users.create(id, { email }, ALL).commit()),
	);
	const renamed = made.map(({ user }) => users.change(id, user.id, { email: 'C@x.example' }, ANY).commit());
	assert.deepEqual(await outcomes([...renamed, users.create(id, { email: 'c@x.example' }, ALL).commit()]), {
		done: 1,
		codes: ['invalid_request'],
	});
});

test('of owners who step down, are removed or demoted at once, one remains', async () => {
	const id = await workspace();
	const made = await Promise.all(
		Array.from({ length: 8 }, (_, at) => users.create(id, { email: `o${at}@x.example`, role: 'owner' }, ALL).commit()),
	);
	const leaving = made.map(({ user }, at) =>
		at % 2 === 0
			? users.remove(id, user.id, ANY).commit()
			: users.change(id, user.id, { role: 'member' }, ANY).commit(),
	);
	assert.deepEqual(await outcomes(leaving), { done: 7, codes: ['invalid_request'] });
	assert.equal((await owners(id)).length, 1);
});

test('a link is valid once: of concurrent uses, one sets the password', async () => {
	const id = await workspace();
	const { token, user } = await users.create(id, { email: 'once@x.example' }, ALL).commit();
	const passwords = Array.from({ length: 10 }, (_, at) => `${PASSWORD} ${at}`);
	const set = passwords.map((password) => users.setPassword(token, password));
	assert.deepEqual(await outcomes(set), { done: 1, codes: ['invalid_request'] });
	const stored = await store.get('users', user.id);
	assert.equal(stored?.password_link_hash, null);
	assert.ok(stored?.password_hash);
});

test('a link is valid for a day, and until there is a newer one', async () => {
	const id = await workspace();
	const { token, user } = await users.create(id, { email: 'day@x.example' }, ALL).commit();
	const newer = await users.invite(id, user.id, ALL).commit();
	await assert.rejects(users.setPassword(token, PASSWORD), { code: 'invalid_request' });
	clock.advance(DAY - 1);
	await users.setPassword(newer.token, PASSWORD);
	const late = await users.invite(id, user.id, ALL).commit();
	clock.advance(DAY);
	await assert.rejects(users.setPassword(late.token, PASSWORD), { code: 'invalid_request' });
});

test('a caller cannot create a user with more scopes than it has', async () => {
	const id = await workspace();
	const settings = { scopes: ['settings:read', 'settings:write'] as const };
	const refused = { code: 'insufficient_scope' };
	const owner = await users.create(id, { email: 'owner@x.example', role: 'owner' }, ALL).commit();
	const member = await users.create(id, { email: 'member@x.example', role: 'member' }, ALL).commit();
	await assert.rejects(users.create(id, { email: 'new@x.example', role: 'owner' }, settings).commit(), refused);
	await assert.rejects(users.create(id, { email: 'new@x.example', role: 'member' }, settings).commit(), refused);
	const change = { ...settings, versions: null };
	await assert.rejects(users.change(id, member.user.id, { role: 'owner' }, change).commit(), refused);
	await assert.rejects(users.invite(id, owner.user.id, settings).commit(), refused);
	assert.equal((await users.change(id, member.user.id, { name: 'Bo' }, change).commit()).name, 'Bo');
});

test('a link is invalid once its user has another role or another email, whichever way the role changed', async () => {
	const id = await workspace();
	await users.create(id, { email: 'first@x.example', role: 'owner' }, ALL).commit();
	const { user, token } = await users.create(id, { email: 'wrong@x.example' }, ALL).commit();
	const stored = () => store.get('users', user.id);
	let link = token;
	for (const [at, patch] of [{ role: 'owner' }, { role: 'member' }, { email: 'right@x.example' }].entries()) {
		const changed = await users.change(id, user.id, patch as UserPatch, ANY).commit();
		await assert.rejects(users.setPassword(link, PASSWORD), { code: 'invalid_request' }, `change ${at}`);
		const { password_link_hash, password_link_expires_at } = (await stored()) ?? {};
		assert.deepEqual([password_link_hash, password_link_expires_at], [null, null]);
		assert.deepEqual(changed, await stored(), 'what is answered is what is stored');
		link = (await users.invite(id, user.id, ALL).commit()).token;
	}
	const same = { name: 'Grace', role: 'member', email: 'RIGHT@x.example' } as const;
	await users.change(id, user.id, same, ANY).commit();
	await users.setPassword(link, PASSWORD);
	assert.ok((await stored())?.password_hash);
});

test('a user who is promoted while an older link sets a password keeps the password from before', async () => {
	const id = await workspace();
	const [begun, hold] = [deferred<void>(), deferred<void>()];
	const passwords = new Passwords(async (...given) => {
		begun.resolve();
		await hold.promise;
		return quickDerive(...given);
	});
	const { user, token } = await users.create(id, { email: 'race@x.example' }, ALL).commit();
	const setting = new Users({ store, passwords, clock }).setPassword(token, PASSWORD);
	await begun.promise;
	await users.change(id, user.id, { role: 'owner' }, ANY).commit();
	hold.resolve();
	await assert.rejects(setting, { code: 'invalid_request' });
	assert.equal((await store.get('users', user.id))?.password_hash, null);
});

test('an email is the same in any Unicode form, and so is its stored form', async () => {
	const id = await workspace();
	// J followed by a caron: there is a composed lower-case letter, and no upper-case one.
	const { user } = await users.create(id, { email: 'J\u030C@x.example' }, ALL).commit();
	assert.equal(user.email, '\u01F0@x.example');
	for (const email of ['J\u030C@x.example', 'j\u030C@X.example', '\u01F0@x.example', user.email]) {
		const found = await users.findByEmail(email, id);
		assert.deepEqual(
			found.map((account) => account.id),
			[user.id],
			JSON.stringify(email),
		);
		await assert.rejects(users.create(id, { email }, ALL).commit(), { code: 'invalid_request' }, JSON.stringify(email));
	}
});

test('the stored form of an email is stable, for every letter with every accent', () => {
	const letter = fc.integer({ min: 0x21, max: 0x2fff }).map((code) => String.fromCodePoint(code));
	const mark = fc.integer({ min: 0x300, max: 0x36f }).map((code) => String.fromCodePoint(code));
	const text = fc.array(fc.oneof(letter, mark, fc.constantFrom('\u03A3', '\u0130', 'I', 'J', '\u212A')), {
		maxLength: 8,
	});
	fc.assert(
		fc.property(text, (parts) => {
			const email = `${parts.join('')}@x.example`;
			const kept = normaliseEmail(email);
			assert.equal(normaliseEmail(kept), kept);
			assert.equal(normaliseEmail(email.normalize('NFD')), kept);
			assert.equal(normaliseEmail(email.normalize('NFC')), kept);
		}),
		{ numRuns: 20_000 },
	);
});
