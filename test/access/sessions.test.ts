import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
	type DeriveKey,
	DeviceCookies,
	insertWorkspace,
	PasswordSignIn,
	Passwords,
	PasswordVerifier,
	PendingSignIns,
	SecondFactor,
	Sessions,
	Users,
} from '../../src/access/index.ts';
import { createLog, deferred, newId, SecretBox } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Store } from '../../src/store/index.ts';
import { quickDerive } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { openTemporaryStore } from '../support/temporary-store.ts';
import { until } from '../support/until.ts';
import { PASSWORD } from './people.ts';

const store = await openTemporaryStore();

const DAY = 24 * 3_600_000;
const ALL = { scopes: ['*'] as const };

let lines = 0;
/** A new client address. */
const somewhere = () => ({ address: `10.0.${Math.floor(++lines / 250)}.${lines % 250}`, cookies: undefined });

interface SetUp {
	derive?: DeriveKey;
	secure?: boolean;
	on?: Store;
}

/** Sessions of users without a second factor. */
class PasswordSessions extends Sessions {
	override async signIn(...given: Parameters<Sessions['signIn']>) {
		const signedIn = await super.signIn(...given);
		assert.ok(!('pendingCookie' in signedIn));
		return signedIn;
	}
}

/** Sessions on the shared store or another, and a function that creates users with a password. */
function setUp({ derive = quickDerive, secure = false, on = store }: SetUp = {}) {
	const clock = manualWallClock();
	const hashed: string[] = [];
	const passwords = new Passwords((password, ...rest) => {
		hashed.push(password);
		return derive(password, ...rest);
	});
	const users = new Users({ store: on, passwords, clock });
	const devices = new DeviceCookies(Buffer.alloc(32, 7), secure);
	const verifier = new PasswordVerifier({ store: on, users, passwords, devices, clock });
	const secrets = new SecretBox(Buffer.alloc(32, 7));
	const pendingSignIns = new PendingSignIns({ secrets, clock, secure });
	const secondFactor = new SecondFactor(secrets);
	const passwordSignIn = new PasswordSignIn({ isEnabled: true, secrets, clock, secure });
	const steps = { pendingSignIns, passwordSignIn, secondFactor };
	const sessions = new PasswordSessions({
		store: on,
		verifier,
		devices,
		...steps,
		clock,
		log: createLog('silent'),
		secure,
	});
	const person = async (email: string, { password = PASSWORD, workspace = '' } = {}) => {
		const id = workspace || (await addWorkspace(on));
		const { user, token } = await users.create(id, { email, role: 'owner' }, ALL).commit();
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

const WRONG = { code: 'unauthorized', message: 'The email or the password is wrong.' };

test('the cost of a sign-in does not show whether the email has accounts, here or in other workspaces', async () => {
	const { sessions, users, person, hashed } = setUp();
	const rooms = [];
	for (let at = 0; at < 6; at++) rooms.push(await addWorkspace(store));
	const accounts = { nobody: 0, one: 1, two: 2, three: 3, five: 5 };
	for (const [name, count] of Object.entries(accounts)) {
		for (const [at, workspace] of rooms.slice(0, count).entries()) {
			await person(`${name}@cost.example`, { workspace, password: `${name} has a password ${at}` });
		}
	}
	await users.create(rooms[0] as string, { email: 'invited@cost.example' }, ALL).commit();
	for (const name of [...Object.keys(accounts), 'invited']) {
		const email = `${name}@cost.example`;
		await assert.rejects(sessions.signIn({ email, password: 'wrong' }, somewhere()), WRONG);
		assert.deepEqual(hashed.splice(0), ['wrong', 'wrong', 'wrong'], email);
	}
	// A user with an account of the same email learns nothing about the other accounts either.
	for (const [name, count] of Object.entries(accounts)) {
		for (let at = 0; at < Math.min(count, 3); at++) {
			const given = { email: `${name}@cost.example`, password: `${name} has a password ${at}` };
			assert.equal((await sessions.signIn(given, somewhere())).user.workspace_id, rooms[at]);
			assert.equal(hashed.splice(0).length, 3, `${name} ${at}`);
		}
	}
});

test('a sign-in that names its workspace costs one hash, whether account and workspace exist or not', async () => {
	const { sessions, users, person, hashed } = setUp();
	const [here, elsewhere] = [await addWorkspace(store), await addWorkspace(store)];
	await person('ada@named.example', { workspace: here });
	await users.create(here, { email: 'new@named.example' }, ALL).commit();
	for (const [name, workspace_id, password] of [
		['ada', here, 'wrong'],
		['ada', elsewhere, PASSWORD],
		['ada', 'ws_none', PASSWORD],
		['new', here, PASSWORD],
		['nobody', here, PASSWORD],
	] as const) {
		await assert.rejects(
			sessions.signIn({ email: `${name}@named.example`, password, workspace_id }, somewhere()),
			WRONG,
		);
		assert.deepEqual(hashed.splice(0), [password], `${name} ${workspace_id}`);
	}
	await sessions.signIn({ email: 'ada@named.example', password: PASSWORD, workspace_id: here }, somewhere());
	assert.deepEqual(hashed, [PASSWORD]);
});

test('an email with more than three accounts signs in to the oldest three by password, and to each by workspace', async () => {
	const { sessions, person } = setUp();
	const email = 'ada@many.example';
	const made = [];
	for (let at = 0; at < 4; at++) made.push(await person(email, { password: `the password of account ${at}` }));
	for (const [at, { id, workspace_id }] of made.entries()) {
		const given = { email, password: `the password of account ${at}` };
		assert.equal((await sessions.signIn({ ...given, workspace_id }, somewhere())).user.id, id);
		if (at < 3) assert.equal((await sessions.signIn(given, somewhere())).user.id, id);
		else await assert.rejects(sessions.signIn(given, somewhere()), WRONG);
	}
});

test('a sign-in costs one hash on a server with one workspace, and two with two', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-sessions-'));
	const own = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	t.after(async () => {
		await own[Symbol.asyncDispose]();
		await rm(dataDir, { recursive: true, force: true });
	});
	const { sessions, users, hashed } = setUp({ on: own });
	for (const workspaces of [1, 2]) {
		const { token } = await users.create(await addWorkspace(own), { email: 'ada@example.com' }, ALL).commit();
		await users.setPassword(token, `${PASSWORD} ${workspaces}`);
		hashed.length = 0;
		for (const email of ['ada@example.com', 'nobody@example.com']) {
			await assert.rejects(sessions.signIn({ email, password: 'wrong' }, somewhere()), WRONG);
			assert.equal(hashed.splice(0).length, workspaces, email);
		}
		assert.ok(await sessions.signIn({ email: 'ada@example.com', password: `${PASSWORD} ${workspaces}` }, somewhere()));
		assert.equal(hashed.splice(0).length, workspaces);
	}
});

test('an email signs in in any case and Unicode form', async () => {
	const { sessions, person } = setUp();
	// J followed by a caron: there is a composed lower-case letter, and no upper-case one.
	const { id } = await person('J\u030C@letters.example');
	for (const email of ['J\u030C@letters.example', 'j\u030C@Letters.Example', '\u01F0@letters.example']) {
		assert.equal(
			(await sessions.signIn({ email, password: PASSWORD }, somewhere())).user.id,
			id,
			JSON.stringify(email),
		);
	}
	for (let at = 0; at < 20; at++) {
		await assert.rejects(sessions.signIn({ email: 'J\u030C@letters.example', password: 'no' }, somewhere()), WRONG);
	}
	const other = sessions.signIn({ email: '\u01F0@letters.example', password: PASSWORD }, somewhere());
	await assert.rejects(other, { code: 'rate_limit_exceeded' }, 'another spelling is no way around the limit');
});

test('stores a session as a hash, and its cookie is for this server and hidden from scripts', async () => {
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

test('a malformed token finds no session', async () => {
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

test('a session lasts fourteen days from its last use, and is renewed at most once an hour', async () => {
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

test('a password change during a sign-in makes the former password fail', async () => {
	const [begun, hold] = [deferred<void>(), deferred<void>()];
	let holding = false;
	const { sessions, users, person } = setUp({
		async derive(...given) {
			if (holding) {
				begun.resolve();
				await hold.promise;
			}
			return quickDerive(...given);
		},
	});
	const user = await person('race@example.com');
	holding = true;
	const given = { email: 'race@example.com', password: PASSWORD, workspace_id: user.workspace_id };
	const signingIn = sessions.signIn(given, somewhere());
	await begun.promise;
	holding = false;
	const { token } = await users.invite(user.workspace_id, user.id, ALL).commit();
	await users.setPassword(token, 'another four ducks');
	hold.resolve();
	await assert.rejects(signingIn, { code: 'unauthorized' });
	assert.deepEqual(await store.list('sessions', { where: { user_id: user.id }, order: 'asc', limit: 9 }), []);
});

test('ends the oldest sessions of a user, so that there are at most fifty', async () => {
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

test('a failed hash does not count as a failed sign-in', async () => {
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

test('a flood of guesses does not keep a known device from signing in', async () => {
	const held: (() => void)[] = [];
	let isHolding = false;
	const derive: DeriveKey = async (...given) => {
		if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
		return quickDerive(...given);
	};
	const { sessions, person, hashed } = setUp({ derive });
	const { email, workspace_id } = await person('flooded@example.com');
	const { deviceCookie } = await sessions.signIn({ email, password: PASSWORD, workspace_id }, somewhere());
	hashed.length = 0;

	isHolding = true;
	const codes: string[] = [];
	const guesses = Array.from({ length: 70 }, async (_, at) => {
		const guess = sessions.signIn({ email: `guess${at}@example.com`, password: 'wrong', workspace_id }, somewhere());
		await assert.rejects(guess, ({ code }: { code: string }) => codes.push(code) > 0);
	});
	await until('no more may wait', () => codes.length === 4);
	assert.deepEqual(codes, Array(4).fill('unavailable'));
	const known = sessions.signIn(
		{ email, password: PASSWORD, workspace_id },
		{ ...somewhere(), cookies: sent(deviceCookie) },
	);
	await new Promise(setImmediate);
	held.shift()?.();
	await until('the next one is computed', () => hashed.length === 3);
	assert.equal(hashed[2], PASSWORD, 'before all guesses that wait');
	isHolding = false;
	for (const release of held.splice(0)) release();
	assert.equal((await known).user.email, email);
	await Promise.all(guesses);
	assert.deepEqual(codes.slice(4), Array(66).fill('unauthorized'));
});
