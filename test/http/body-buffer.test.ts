import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyBuffer } from '../../src/http/body-buffer.ts';
import { readBytes } from '../../src/http/body-bytes.ts';
import { UNKNOWN_LENGTH } from '../../src/http/framing.ts';
import { eventually } from './harness.ts';

test('a body that goes on arriving although it is paused and not read is refused', async (t) => {
	const body = new BodyBuffer({ pause() {}, resume() {} }, 60_000);
	t.after(() => body.stopTimer());
	const piece = Buffer.alloc(1_000_000);
	for (let at = 0; at < 17; at++) body.push(piece, false);
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

test('a body that goes on arriving although it is paused is paused again', async (t) => {
	let pauses = 0;
	const flow = {
		pause: () => {
			pauses++;
		},
		resume() {},
	};
	const body = new BodyBuffer(flow, 60_000);
	t.after(() => body.stopTimer());
	body.push(Buffer.alloc(100_000), false);
	assert.equal(pauses, 1);
	body.push(Buffer.alloc(100_000), false);
	await eventually(() => pauses === 2, 'the body is paused again');
});
