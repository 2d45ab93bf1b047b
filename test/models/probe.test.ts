import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, systemClock } from '../../src/base/index.ts';
import { probeProvider } from '../../src/models/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { type ModelScript, ModelServer } from '../support/model-server.ts';

test('a provider that does not begin to answer fails its test, and an answer that begins passes', async () => {
	await using server = await ModelServer.start();
	await using network = createNetwork({ allowPrivateNetwork: true });
	const probe = (script: ModelScript, settings = server.provider()) => {
		server.setDefault(script);
		return probeProvider(settings, 'small', { network, clock: systemClock, log: createLog('silent'), random: () => 1 });
	};
	const failing: ReadonlyArray<readonly [RegExp, ModelScript]> = [
		[/did not begin to answer within 0.3 seconds/, [{ hang: true }]],
		[/did not begin to answer|broke off/, [{ die: true }]],
		[/did not begin to answer|status 504/, [{ status: 504 }]],
		[/broke off|not part of its protocol/, [{ end: true }]],
	];
	for (const [sentence, script] of failing) {
		const outcome = await probe(script, server.provider({ first_token_timeout_ms: 300 }));
		assert.match(outcome.sentence, sentence);
		assert.notEqual(outcome.remedy, null);
	}
	for (const begins of [[{ say: 'ok' }], [{ think: 'Hm.' }, { hang: true }]] satisfies ModelScript[]) {
		const { sentence, remedy } = await probe(begins);
		assert.match(sentence, /^The model small began to answer after \d+ ms\.$/);
		assert.equal(remedy, null);
	}
});
