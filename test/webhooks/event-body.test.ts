import assert from 'node:assert/strict';
import test from 'node:test';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { renderEvent } from '../../src/webhooks/index.ts';
import { temporaryPlace } from '../store/contract/life.ts';

/** Holds what JSON writers differ in: the order of members, escapes, characters beyond ASCII, numbers, what is empty. */
const EVENT = {
	id: 'evt_01jd0000000000000000000000000000',
	stream: 'ws_1',
	type: 'message.created',
	data: {
		id: 'msg_1',
		content: 'Grüße 👋 "so" \\ a/b\n\t\u0000\u001f\u007f\u2028 \ud800 <&>',
		zeta: null,
		alpha: { 10: 'ten', 9: 'nine', b: [], a: {} },
		numbers: [0, -0, 1.5, 1e21, 1e-7, 2 ** 64, true],
	},
	subject: null,
	created_at: Date.UTC(2026, 10, 20, 12, 0, 0, 7),
};

/** What was sent and not taken before an upgrade is sent again after it, and then a repeat has the same bytes: these never change. */
const BODY = String.raw`{"id":"evt_01jd0000000000000000000000000000","type":"message.created","created_at":"2026-11-20T12:00:00.007Z","data":{"id":"msg_1","content":"Grüße 👋 \"so\" \\ a/b\n\t\u0000\u001f${'\u007f\u2028'} \ud800 <&>","zeta":null,"alpha":{"9":"nine","10":"ten","b":[],"a":{}},"numbers":[0,0,1.5,1e+21,1e-7,18446744073709552000,true]}}`;

test('renders the same bytes for an event in every version, also after it was stored', async (t) => {
	assert.equal(renderEvent(EVENT), BODY);
	const store = await openSqliteStore({ dataDir: await temporaryPlace(t), writer: workerEntry('store') });
	t.after(() => store[Symbol.asyncDispose]());
	const end = await store.commit({ events: [EVENT] });
	assert.ok(end.outcome === 'committed');
	const stored = (await store.events.at(end.seqs[0] as number)) ?? assert.fail('it is gone');
	assert.equal(renderEvent(stored), BODY);
});
