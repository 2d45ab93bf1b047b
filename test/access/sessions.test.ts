import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Derive, insertWorkspace, Passwords, Sessions, Users } from '../../src/access/index.ts';
import { deferred, newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Store } from '../../src/store/index.ts';
import { PASSWORD, quickDerive, standingClock } from './people.ts';

const folder = await mkdtemp(join(tmpdir(), 'parley-sessions-'));
const store = await openSqliteStore({ dataDir: folder, writer: workerEntry('store') });
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(folder, { recursive: true, force: true });
});

const DAY = 24 * 3_600_000;
const ALL = { scopes: ['*'] as const };

let lines = 0;
/** Where nobody signed in from before. */
const somewhere = () => ({ address: `10.0.${Math.floor(++lines / 250)}.${lines % 250}`, cookies: undefined });

/** Sessions on the shared store, and a way to make people with a password. */
function setUp({ derive = quickDerive, secure = false }: { derive?: Derive; secure?: boolean } = {}) {
	const clock = standingClock();
	const hashed: string[] = [];
	const passwords = new Passwords((password, ...rest) => {
		hashed.push(password);
		return derive(password, ...rest);
	});
	const users = new Users({ store, passwords, clock });
	const sessions = new Sessions({ store, users, passwords, clock, secure });
	const person = async (email: string, { password = PASSWORD, workspace = '' } = {}) => {
		const id = workspace || (await addWorkspace(store));
		const { user, token } = await users.create(id, { email, role: 'owner' }, ALL);
		await users.setPassword(token, password);
		hashed.length = 0;
		return user;
	};
	return { clock, hashed, users, sessions, person };
}

async function addWorkspace(store: Store): Promise<string> {
	const id = newId('workspace');
	await store.commit({ write: insertWorkspace(id, 'Acme', Date.now()) });
	return id;
}

/** A cookie as the browser sends it again. */
const sent = (setCookie: string | null) => setCookie?.split(';')[0];

test('an unknown account is hashed for like a known one, and so is one without a password', async () => {
	const { sessions, users, person, hashed } = setUp();
	await person('ada@example.com');
	const wrong = { code: 'unauthorized', message: 'The email or the password is wrong.' };
	await assert.rejects(sessions.signIn({ email: 'ada@example.com', password: 'wrong' }, somewhere()), wrong);
	assert.deepEqual(hashed.splice(0), ['wrong']);
	await assert.rejects(sessions.signIn({ email: 'nobody@example.com', password: 'wrong' }, somewhere()), wrong);
	assert.deepEqual(hashed.splice(0), ['wrong']);
	await users.create(await addWorkspace(store), { email: 'new@example.com' }, ALL);
	await assert.rejects(sessions.signIn({ email: 'new@example.com', password: 'wrong' }, somewhere()), wrong);
	assert.deepEqual(hashed.splice(0), ['wrong']);
	// And so is a workspace in which a known person has no account.
	const given = { email: 'ada@example.com', password: PASSWORD, workspace_id: 'ws_none' };
	await assert.rejects(sessions.signIn(given, somewhere()), wrong);
	assert.deepEqual(hashed, [PASSWORD]);
});

test('a session is stored as a hash, and its cookie is for this server and no script', async () => {
	for (const secure of [false, true]) {
		const { sessions, person } = setUp({ secure });
		await person(`cookie-${secure}@example.com`);
		const begun = await sessions.signIn({ email: `cookie-${secure}@example.com`, password: PASSWORD }, somewhere());
		const form = /^parley_session=([\w-]{43}); Path=\/; HttpOnly; SameSite=Lax; Max-Age=1209600(; Secure)?$/;
		const [, token = '', marked] = form.exec(begun.setCookie ?? '') ?? [];
		assert.equal(marked !== undefined, secure);
		const stored = await store.get('sessions', begun.session.id);
		assert.match(stored?.hash ?? '', /^[0-9a-f]{64}$/);
		assert.ok(!JSON.stringify(stored).includes(token));
		assert.equal((await sessions.find(`a=b; parley_session=${token}`))?.session.id, begun.session.id);
	}
});

test('what is no token of ours finds nothing', async () => {
	const { sessions, person } = setUp();
	await person('token@example.com');
	const { setCookie } = await sessions.signIn({ email: 'token@example.com', password: PASSWORD }, somewhere());
	const good = sent(setCookie) as string;
	for (const cookies of [
		undefined,
		'',
		'parley_session',
		'parley_session=',
		`${good}x`,
		good.slice(0, -1),
		good.replace('parley_session', 'parley_sessions'),
		`parley_session=${'A'.repeat(43)}`,
		`parley_session=${'A'.repeat(100_000)}`,
		';'.repeat(10_000),
	]) {
		assert.equal(await sessions.find(cookies), null, cookies?.slice(0, 80));
	}
});

test('a session lasts fourteen days from its last use, and is prolonged once an hour at most', async () => {
	const { sessions, clock, person } = setUp();
	await person('slide@example.com');
	const { setCookie, session } = await sessions.signIn({ email: 'slide@example.com', password: PASSWORD }, somewhere());
	const cookies = sent(setCookie);
	clock.advance(3_599_999);
	assert.equal((await sessions.find(cookies))?.setCookie, null);
	clock.advance(1);
	const seen = await Promise.all(Array.from({ length: 10 }, () => sessions.find(cookies)));
	assert.deepEqual(
		seen.flatMap((found) => found?.setCookie ?? []),
		[setCookie],
		'of requests at once, one prolongs',
	);
	assert.equal((await store.get('sessions', session.id))?.expires_at, clock.now() + 14 * DAY);
	assert.equal((await sessions.find(cookies))?.setCookie, null);
	clock.advance(14 * DAY - 1);
	assert.equal((await sessions.find(cookies))?.setCookie, setCookie);
	clock.advance(14 * DAY);
	assert.equal(await sessions.find(cookies), null);
});

test('a password that is changed while it is being checked lets nobody in with the former one', async () => {
	const hold = deferred<void>();
	let holding = false;
	const { sessions, users, person } = setUp({
		async derive(...given) {
			if (holding) await hold.promise;
			return quickDerive(...given);
		},
	});
	const user = await person('race@example.com');
	holding = true;
	const signingIn = sessions.signIn({ email: 'race@example.com', password: PASSWORD }, somewhere());
	await new Promise(setImmediate);
	holding = false;
	const { token } = await users.invite(user.workspace_id, user.id, ALL);
	await users.setPassword(token, 'another four ducks');
	hold.resolve();
	await assert.rejects(signingIn, { code: 'unauthorized' });
	assert.deepEqual(await store.list('sessions', { where: { user_id: user.id }, order: 'asc', limit: 9 }), []);
});

test('of one person’s sessions the oldest end, so that there are never more than fifty', async () => {
	const { sessions, person } = setUp();
	const user = await person('many@example.com');
	const begun = [];
	for (let at = 0; at < 53; at++) {
		begun.push(await sessions.signIn({ email: 'many@example.com', password: PASSWORD }, somewhere()));
	}
	const left = await store.list('sessions', { where: { user_id: user.id }, order: 'asc', limit: 99 });
	assert.deepEqual(
		left.map(({ id }) => id),
		begun.slice(3).map(({ session }) => session.id),
	);
});

test('a browser that signs in again has one session, not two', async () => {
	const { sessions, person } = setUp();
	const user = await person('again@example.com');
	const given = { email: 'again@example.com', password: PASSWORD };
	const first = await sessions.signIn(given, somewhere());
	const second = await sessions.signIn(given, { ...somewhere(), cookies: sent(first.setCookie) });
	const left = await store.list('sessions', { where: { user_id: user.id }, order: 'asc', limit: 9 });
	assert.deepEqual(
		left.map(({ id }) => id),
		[second.session.id],
	);
});

test('a hash that fails is nobody’s failed sign-in', async () => {
	let failing = false;
	const { sessions, person } = setUp({
		async derive(...given) {
			if (failing) throw new Error('out of memory');
			return quickDerive(...given);
		},
	});
	await person('lucky@example.com');
	const given = { email: 'lucky@example.com', password: PASSWORD };
	const from = somewhere();
	failing = true;
	for (let at = 0; at < 10; at++) await assert.rejects(sessions.signIn(given, from), /out of memory/);
	failing = false;
	assert.ok(await sessions.signIn(given, from));
});
