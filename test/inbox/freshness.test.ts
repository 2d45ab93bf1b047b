import assert from 'node:assert/strict';
import test from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';

test('a list of the inbox that waited for the last message leaves no timer behind', async () => {
	await using app = await startTestApp({ overrides: { inboxFreshnessMs: 600_000 } });
	const { deployment } = await createApiFixture(app);
	const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
	const read = async (content: string) => {
		const sent = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
		const { body } = await app.call('GET', '/api/v1/inbox?limit=1');
		assert.equal(body.data[0]?.conversation.id, sent.body.conversation_id);
	};
	await read('The first question');
	const before = timers();
	for (let at = 0; at < 20; at++) await read(`Question ${at}`);
	assert.ok(timers() < before + 15, `${timers()} timers, ${before} before`);
});
