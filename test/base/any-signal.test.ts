import assert from 'node:assert/strict';
import test from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { anySignal, deferred, withDeadline } from '../../src/base/index.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const TIMEOUT_MS = 50;

/** Resolves with the reason of the abort. Only the combined signal's listener holds the time limit. */
function reasonOfAbort(combine: (timeout: AbortSignal) => AbortSignal): Promise<Error> {
	const { promise, resolve } = deferred<Error>();
	const signal = combine(AbortSignal.timeout(TIMEOUT_MS));
	signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
	return promise;
}

test('a time limit that only a combined signal holds comes although garbage is collected', async () => {
	const caller = new AbortController();
	const waits = [
		reasonOfAbort((timeout) => anySignal(caller.signal, timeout)),
		reasonOfAbort((timeout) => anySignal(undefined, timeout)),
		reasonOfAbort((timeout) => anySignal(caller.signal, anySignal(new AbortController().signal, timeout))),
	];
	// A collection needs the event loop to have left the functions that made the signals.
	await new Promise(setImmediate);
	collectGarbage();
	const late = () => new Error('The time limit was lost.');
	for (const reason of await Promise.all(waits.map((wait) => withDeadline(wait, 60_000, late)))) {
		assert.equal(reason.name, 'TimeoutError');
	}
});

test('a combined signal aborts for the reason of the first source that aborts', () => {
	const [first, second] = [new AbortController(), new AbortController()];
	const signal = anySignal(first.signal, undefined, second.signal);
	assert.equal(signal.aborted, false);
	const reason = new Error('The caller has left.');
	second.abort(reason);
	first.abort(new Error('Too late.'));
	assert.equal(signal.reason, reason);
});
