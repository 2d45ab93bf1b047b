import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyBuffer } from '../../src/http/body-buffer.ts';
import { readBytes } from '../../src/http/body-bytes.ts';
import { UNKNOWN_LENGTH } from '../../src/http/framing.ts';

test('a body that goes on arriving although it is paused and not read is refused', async (t) => {
	const body = new BodyBuffer({ pause() {}, resume() {} }, 60_000);
	t.after(() => body.stopTimer());
	const piece = Buffer.alloc(1_000_000);
	for (let at = 0; at < 68; at++) body.push(piece, false);
	assert.ok(body.hasFailed);
	await assert.rejects(readBytes(body, UNKNOWN_LENGTH, 100_000_000), { code: 'unavailable' });
});

test('a body that is discarded already stays paused when its response is chosen', (t) => {
	const body = new BodyBuffer({ pause() {}, resume() {} }, 60_000);
	t.after(() => body.stopTimer());
	body.discard();
	// By the throttle.
	body.pause();
	body.discard(() => {});
	assert.ok(body.isPaused);
});
