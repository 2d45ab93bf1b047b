import assert from 'node:assert/strict';
import test from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';

const KETTLE = 'The Lumen kettle is made of steel. It costs forty euros and is delivered within three days.';
const OTHERS = ['toaster', 'mug', 'lamp', 'chair', 'table', 'clock'].map(
	(thing) => `The Fenwick ${thing} costs thirty euros. This ${thing} costs less than last year.`,
);

test('a reply searches with the dialogue, so that a follow-up finds what its pronoun stands for', async () => {
	await using models = await ModelServer.start();
	await using app = await startTestApp({ settings: { providers: [models.provider()] } });
	const { deployment, assistant } = await createApiFixture(app, {
		texts: [...OTHERS, KETTLE],
		model: 'stand-in/small',
	});
	const changed = await app.call('PATCH', `/api/v1/assistants/${assistant}`, { rag_settings: { top_k: 1 } });
	assert.equal(changed.status, 200);
	const send = async (content: string, conversation_id?: string) => {
		const { status, body } = await app.call('POST', '/api/v1/messages', {
			deployment_id: deployment,
			content,
			conversation_id,
		});
		assert.equal(status, 201, JSON.stringify(body));
		return body;
	};
	const promptOf = async (index: number) => JSON.stringify((await models.call(index)).body.messages);
	const { conversation_id } = await send('What is the Lumen kettle made of?');
	await send('How much does it cost?', conversation_id);
	assert.match(await promptOf(1), /It costs forty euros/);
	await send('How much does it cost?');
	assert.doesNotMatch(await promptOf(2), /It costs forty euros/, 'nothing is said before it');
});
