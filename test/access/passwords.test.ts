import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DeriveKey, Passwords } from '../../src/access/index.ts';
import { deferred } from '../../src/base/index.ts';

const PASSWORD = 'four ducks on a pond';

/** Passwords with a hash that a test completes, and the calls to it. */
function heldPasswords() {
	const asked: Array<{ password: string; options: { N?: number; r?: number; p?: number }; end: () => void }> = [];
	const derive: DeriveKey = (password, _salt, bytes, options) => {
		const done = deferred<Buffer>();
		asked.push({ password, options, end: () => done.resolve(Buffer.alloc(bytes)) });
		return done.promise;
	};
	return { asked, passwords: new Passwords(derive) };
}

const settled = (): Promise<void> => new Promise(setImmediate);

test('a password matches its hash, and no other password does', async () => {
	const passwords = new Passwords();
	const stored = await passwords.hash(PASSWORD);
	assert.equal(await passwords.verify(PASSWORD, stored), true);
	for (const wrong of ['', 'four ducks on a pon', `${PASSWORD} `, PASSWORD.toUpperCase()]) {
		assert.equal(await passwords.verify(wrong, stored), false, wrong);
	}
});

test('the stored hash has its cost and its own salt, in the PHC string format', async () => {
	const passwords = new Passwords();
	const [one, other] = await Promise.all([passwords.hash(PASSWORD), passwords.hash(PASSWORD)]);
	for (const stored of [one, other]) {
		assert.match(stored, /^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
	}
	assert.notEqual(one, other);
});

test('verifies with the cost of the stored hash, also when the configured cost differs', async () => {
	// RFC 7914, section 12: scrypt("password", "NaCl", N=1024, r=8, p=16), its first 32 bytes.
	const key = Buffer.from('fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162', 'hex');
	const salt = Buffer.from('NaCl');
	const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
	const short = `$scrypt$ln=10,r=8,p=16$${unpadded(salt)}$${unpadded(key)}`;
	const passwords = new Passwords();
	assert.equal(await passwords.verify('password', short), true);
	assert.equal(await passwords.verify('passwort', short), false);
});

test('the same letters in another Unicode form are the same password', async () => {
	const passwords = new Passwords();
	const stored = await passwords.hash('Zoë and the café');
	assert.equal(await passwords.verify('Zoe\u0308 and the cafe\u0301', stored), true);
});

test('does the same work without an account, and never succeeds', async () => {
	const { asked, passwords } = heldPasswords();
	const verdicts = [passwords.verify(PASSWORD, null), passwords.hash(PASSWORD)];
	await settled();
	assert.deepEqual(asked[0]?.options, asked[1]?.options);
	assert.deepEqual([asked[0]?.options.N, asked[0]?.options.r, asked[0]?.options.p], [2 ** 15, 8, 3]);
	for (const { end } of asked) end();
	assert.equal(await verdicts[0], false);

	// Not even where the derived key equals the compared one.
	let compared: Buffer | undefined;
	const echo = new Passwords(async (_password, _salt, bytes) => {
		compared ??= Buffer.alloc(bytes);
		return compared;
	});
	assert.equal(await echo.verify(PASSWORD, null), false);
});

test('computes two hashes at a time, queues a bounded number, and rejects one more with Retry-After', async () => {
	const { asked, passwords } = heldPasswords();
	const running = Array.from({ length: 66 }, () => passwords.verify(PASSWORD, null));
	await settled();
	assert.equal(asked.length, 2);
	await assert.rejects(passwords.verify(PASSWORD, null), { code: 'unavailable', retry_after: 1 });
	await assert.rejects(passwords.hash(PASSWORD), { code: 'unavailable' });
	for (let at = 0; at < running.length; at++) {
		asked[at]?.end();
		await running[at];
		await settled();
		assert.ok(asked.length <= at + 3);
	}
	assert.equal(asked.length, 66);
});

test('a damaged hash is a defect, not a wrong password, and takes no memory', async () => {
	const passwords = new Passwords();
	for (const stored of ['', 'plain', '$scrypt$ln=31,r=8,p=3$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA', '$2b$12$abc']) {
		await assert.rejects(passwords.verify(PASSWORD, stored), /damaged/);
	}
});
