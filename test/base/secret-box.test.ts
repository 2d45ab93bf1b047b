import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { SecretBox } from '../../src/base/index.ts';

const box = new SecretBox(randomBytes(32));

test('opens any sealed text, which is not visible in its sealed form', () => {
	fc.assert(
		fc.property(fc.string({ unit: 'grapheme' }), (text) => {
			const sealed = box.seal(text, 'tools');
			assert.equal(box.open(sealed, 'tools'), text);
			assert.match(sealed, /^v1\.[\w-]+$/);
		}),
	);
	assert.doesNotMatch(box.seal('swordfish', 'tools'), /swordfish/);
});

test('the same secret sealed twice gives different results', () => {
	assert.notEqual(box.seal('swordfish', 'tools'), box.seal('swordfish', 'tools'));
});

test('another key, another purpose or any flipped bit fails to open, and the error names the setting', () => {
	const sealed = box.seal('swordfish', 'tools');
	assert.throws(() => new SecretBox(randomBytes(32)).open(sealed, 'tools'), /PARLEY_SECRET_KEY/);
	assert.throws(() => box.open(sealed, 'webhooks'), /PARLEY_SECRET_KEY/);
	const bytes = Buffer.from(sealed.slice(3), 'base64url');
	for (let bit = 0; bit < bytes.length * 8; bit++) {
		const altered = Buffer.from(bytes);
		altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7));
		assert.throws(() => box.open(`v1.${altered.toString('base64url')}`, 'tools'), /PARLEY_SECRET_KEY/);
	}
	for (const text of ['', 'v1.', 'v1.AAAA', 'swordfish']) assert.throws(() => box.open(text, 'tools'));
});
