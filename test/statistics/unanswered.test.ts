import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { mostSimilar, termsOf } from '../../src/statistics/similarity.ts';
import { createApiFixture, createResource, untilSettled } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());
const shop = await createApiFixture(app, { texts: ['The Lumen kettle is made of steel and costs forty euros.'] });

async function ask(content: string) {
	const { body } = await app.call('POST', '/api/v1/messages', { deployment_id: shop.deployment, content });
	return body;
}

interface Group {
	id: string;
	question: string;
	count: number;
	examples: Array<{ message_id: string; conversation_id: string }>;
	status: string;
	document_id: string | null;
}

async function groups(query = ''): Promise<Group[]> {
	return (await pageOf(query)).data;
}

async function pageOf(query: string): Promise<{ data: Group[]; next_cursor: string | null }> {
	const { status, body } = await app.call('GET', `/api/v1/stats/unanswered${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	return body;
}

test('questions with most of their words in common are one group, whatever their form', () => {
	const warranty = termsOf('How long is the warranty of the kettle?');
	const list = [{ group_id: 'g', terms: warranty }];
	assert.equal(mostSimilar(termsOf('what is the kettle’s warranty'), list), 'g');
	assert.equal(mostSimilar(termsOf('Do you deliver kettles to Norway?'), list), null);
	const german = [{ group_id: 'g', terms: termsOf('Liefern Sie auch nach Norwegen?') }];
	assert.equal(mostSimilar(termsOf('Wann liefern Sie nach Norwegen?'), german), 'g');
	assert.deepEqual(
		termsOf('What is it?'),
		['is', 'it', 'what'],
		'a question of function words is compared by all words',
	);
});

test('a question without an answer is listed with its conversation, counted, resolved with a document, and listed again if it is still unanswered', async () => {
	await ask('What is the Lumen kettle made of?');
	const first = await ask('Do you deliver to Norway?');
	await ask('Hello!');
	await ask('Is the toaster waterproof?');
	await ask('do you deliver to norway');
	const listed = await groups();
	assert.deepEqual(
		listed.map(({ question, count }) => [question, count]),
		[
			['do you deliver to norway', 2],
			['Is the toaster waterproof?', 1],
		],
	);
	const [norway, toaster] = listed as [Group, Group];
	assert.deepEqual(norway.examples.at(-1)?.conversation_id, first.conversation_id);
	assert.deepEqual((await groups(`?assistant_id=${shop.assistant}&limit=1`)).length, 1);
	assert.deepEqual(await groups('?assistant_id=asst_unknown'), []);

	const documents = `/api/v1/knowledge-bases/${shop.knowledgeBase}/documents`;
	const content = 'We deliver to Norway within five days.';
	const document = await createResource(app, documents, { source_type: 'text', title: 'Delivery to Norway', content });
	const path = `/api/v1/stats/unanswered/${norway.id}`;
	const resolved = await app.call('POST', `${path}/resolve`, { document_id: document });
	assert.deepEqual([resolved.status, resolved.body.status, resolved.body.document_id], [200, 'resolved', document]);
	assert.deepEqual(
		(await groups()).map(({ id }) => id),
		[toaster.id],
	);
	assert.deepEqual(
		(await groups('?status=resolved')).map(({ id }) => id),
		[norway.id],
	);
	await untilSettled(app, shop.knowledgeBase);
	assert.equal((await ask('Do you deliver to Norway?')).answered_by, 'documents');
	assert.equal((await groups()).length, 1);

	await app.call('POST', `/api/v1/stats/unanswered/${toaster.id}/dismiss`);
	await ask('is the toaster waterproof');
	assert.deepEqual(await groups(), [], 'later questions of the kind are dismissed');
	assert.equal((await groups('?status=dismissed'))[0]?.count, 2);

	for (const { conversation_id } of (await groups('?status=dismissed'))[0]?.examples ?? []) {
		await app.call('DELETE', `/api/v1/conversations/${conversation_id}?purge=true`);
	}
	assert.deepEqual(await groups('?status=dismissed'), [], 'questions are erased with their conversations');
	assert.equal((await app.call('POST', `/api/v1/stats/unanswered/${toaster.id}/resolve`, {})).status, 404);
	const { body } = await app.call('GET', '/api/v1/stats');
	assert.equal(body.total.answers.none, 4, 'counts stay');
});

test('a document of another workspace, or an unknown group, is not found', async () => {
	await ask('Where is the moon station?');
	const [group] = (await groups()) as [Group];
	const path = `/api/v1/stats/unanswered/${group.id}/resolve`;
	assert.equal((await app.call('POST', path, { document_id: 'doc_unknown' })).status, 404);
	assert.equal((await app.call('POST', '/api/v1/stats/unanswered/unq_unknown/dismiss')).status, 404);
	assert.equal((await groups())[0]?.status, 'open');
});

test('groups are read page by page, each once, the most frequent first, then the latest', async () => {
	for (const animal of ['zebras', 'falcons', 'otters', 'badgers', 'walruses', 'geese', 'lizards']) {
		for (let at = 0; at < (animal === 'otters' ? 3 : animal === 'geese' ? 2 : 1); at++) {
			await ask(`May ${animal} swim?`);
		}
	}
	const whole = (await pageOf('?limit=100')).data;
	assert.ok(whole.length >= 7);
	assert.match(whole[0]?.question ?? '', /otters/);
	assert.match(whole[1]?.question ?? '', /geese/);
	assert.match(whole[2]?.question ?? '', /lizards/);
	for (const limit of [1, 2, 3, whole.length]) {
		const ids: string[] = [];
		for (let cursor: string | null = ''; cursor !== null; ) {
			const page = await pageOf(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
			assert.ok(page.data.length <= limit && page.data.length > 0);
			ids.push(...page.data.map(({ id }) => id));
			cursor = page.next_cursor;
		}
		assert.deepEqual(
			ids,
			whole.map(({ id }) => id),
			`pages of ${limit}`,
		);
	}
	const { next_cursor } = await pageOf('?limit=1');
	for (const query of [`?status=resolved&cursor=${next_cursor}`, '?cursor=abc']) {
		const { status, body } = await app.call('GET', `/api/v1/stats/unanswered${query}`);
		assert.deepEqual([status, body.error?.code], [400, 'invalid_cursor']);
	}
});
