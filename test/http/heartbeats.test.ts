import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HeartbeatStream, Heartbeats } from '../../src/http/heartbeats.ts';

const INTERVAL_MS = 100;

test('each stream sends a heartbeat once it has been silent for the interval', (t) => {
	let now = 0;
	t.mock.method(performance, 'now', () => now);
	t.mock.timers.enable({ apis: ['setTimeout'] });
	const heartbeats = new Heartbeats(INTERVAL_MS);
	const sent: string[] = [];
	const streamOf = (name: string): HeartbeatStream => ({
		sentAt: 0,
		previous: undefined,
		next: undefined,
		sendHeartbeat: () => sent.push(`${name} ${now}`),
	});
	const pass = (ms: number) => {
		for (let at = 0; at < ms; at++) {
			now++;
			t.mock.timers.tick(1);
		}
	};
	const [silent, busy, closed] = ['silent', 'busy', 'closed'].map(streamOf) as [
		HeartbeatStream,
		HeartbeatStream,
		HeartbeatStream,
	];
	heartbeats.add(silent);
	heartbeats.add(closed);
	pass(30);
	heartbeats.add(busy);
	pass(60);
	heartbeats.recordWrite(busy);
	heartbeats.remove(closed);
	pass(210);
	assert.deepEqual(sent, ['silent 100', 'busy 190', 'silent 200', 'busy 290', 'silent 300']);
	heartbeats.remove(silent);
	heartbeats.remove(busy);
	pass(300);
	assert.equal(sent.length, 5);
	heartbeats.add(closed);
	pass(INTERVAL_MS);
	assert.deepEqual(sent.slice(5), [`closed ${now}`]);
	heartbeats.remove(closed);
});
