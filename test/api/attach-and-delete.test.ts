import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';

test('a knowledge base that is deleted while it is being attached stays attached nowhere', async () => {
	await using app = await startTestApp();
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Helper' });
	const attached = `/api/v1/assistants/${assistant.id}/knowledge-bases`;
	for (let round = 0; round < 30; round++) {
		const { body: base } = await app.call('POST', '/api/v1/knowledge-bases', { name: `Base ${round}` });
		const [attach, remove] = await Promise.all([
			app.call('POST', attached, { knowledge_base_id: base.id }),
			app.call('DELETE', `/api/v1/knowledge-bases/${base.id}`),
		]);
		assert.equal(remove.status, 200);
		assert.ok(attach.status === 200 || attach.status === 404, `attaching returned ${attach.status}`);
		const { body } = await app.call('GET', `/api/v1/assistants/${assistant.id}`);
		assert.deepEqual(body.knowledge_base_ids, [], `round ${round}`);
	}
});
