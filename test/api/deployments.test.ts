import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { created, createScene } from './scene.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const DEPLOYMENTS = '/api/v1/deployments';
const assistant = await created(app, '/api/v1/assistants', { name: 'Guide' });

test('a new deployment is answered whole, with its defaults, and lets nobody in yet', async () => {
	const { status, body } = await app.call('POST', DEPLOYMENTS, { assistant_id: assistant });
	assert.equal(status, 201);
	const { id, created_at, updated_at, appearance, ...rest } = body;
	assert.match(id, /^dep_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.equal(updated_at, created_at);
	assert.deepEqual(rest, {
		name: 'Guide',
		assistant_id: assistant,
		allowed_domains: [],
		features: { streaming: true, rich_content: true, jwt_required: false },
		rate_limit: { messages_per_minute: 20 },
		jwt: null,
		status: 'active',
	});
	assert.deepEqual(
		{ ...appearance, greeting: '' },
		{ primary_color: '#4f46e5', theme: 'light', position: 'bottom-right', greeting: '', suggested_questions: [] },
	);
	assert.deepEqual((await app.call('GET', `${DEPLOYMENTS}/${id}`)).body, body);
});

test('a change merges appearance and features member by member, and replaces lists', async () => {
	const { body: before } = await app.call('POST', DEPLOYMENTS, {
		assistant_id: assistant,
		allowed_domains: ['a.example', 'b.example'],
		appearance: { theme: 'dark', suggested_questions: ['One?', 'Two?'] },
		features: { streaming: false },
	});
	assert.equal(before.appearance.primary_color, '#4f46e5');
	const { status, body } = await app.call('PATCH', `${DEPLOYMENTS}/${before.id}`, {
		allowed_domains: ['c.example'],
		appearance: { suggested_questions: ['Three?'], greeting: 'Hello' },
		features: { rich_content: false },
	});
	assert.equal(status, 200);
	assert.deepEqual(body, {
		...before,
		allowed_domains: ['c.example'],
		appearance: { ...before.appearance, suggested_questions: ['Three?'], greeting: 'Hello' },
		features: { streaming: false, rich_content: false, jwt_required: false },
		updated_at: body.updated_at,
	});
});

test('archiving and reviving', async () => {
	const id = await created(app, DEPLOYMENTS, { assistant_id: assistant });
	for (let time = 0; time < 2; time++) {
		const { status, body } = await app.call('DELETE', `${DEPLOYMENTS}/${id}`);
		assert.deepEqual([status, body.status], [200, 'archived']);
	}
	assert.equal((await app.call('GET', `${DEPLOYMENTS}/${id}`)).body.status, 'archived', 'its owner still sees it');
	const message = await app.call('POST', '/api/v1/messages', { deployment_id: id, content: 'Hello?' });
	assert.deepEqual([message.status, message.body.error.code], [404, 'not_found']);
	const { body } = await app.call('PATCH', `${DEPLOYMENTS}/${id}`, { status: 'active' });
	assert.equal(body.status, 'active');
	assert.equal((await app.call('POST', '/api/v1/messages', { deployment_id: id, content: 'Hello?' })).status, 201);
});

test('the list filters by status and by assistant', async () => {
	const scene = await createScene(app);
	const second = await created(app, DEPLOYMENTS, { assistant_id: scene.assistant });
	await app.call('DELETE', `${DEPLOYMENTS}/${second}`);
	const ids = async (query: string) =>
		(await app.call('GET', `${DEPLOYMENTS}?${query}`)).body.data.map(({ id }: { id: string }) => id);
	assert.deepEqual(await ids(`assistant_id=${scene.assistant}`), [second, scene.deployment]);
	assert.deepEqual(await ids(`assistant_id=${scene.assistant}&status=archived`), [second]);
	assert.deepEqual(await ids(`assistant_id=${scene.assistant}&status=active`), [scene.deployment]);
	assert.deepEqual(await ids('assistant_id=asst_1'), []);
});

test('wrong settings are refused with their place, and change nothing', async () => {
	const { body: before } = await app.call('POST', DEPLOYMENTS, { assistant_id: assistant });
	const refused: Array<[body: unknown, path: string]> = [
		[{ appearance: { primary_color: 'red' } }, '/appearance/primary_color'],
		[{ appearance: { theme: 'blue' } }, '/appearance/theme'],
		[{ appearance: { position: 'top' } }, '/appearance/position'],
		[{ appearance: { suggested_questions: Array(11).fill('Why?') } }, '/appearance/suggested_questions'],
		[{ features: { magic: true } }, '/features/magic'],
		[{ rate_limit: { messages_per_minute: 0 } }, '/rate_limit/messages_per_minute'],
		[{ allowed_domains: 'a.example' }, '/allowed_domains'],
		[{ name: null }, '/name'],
	];
	for (const [body, path] of refused) {
		const answer = await app.call('PATCH', `${DEPLOYMENTS}/${before.id}`, body);
		assert.deepEqual([answer.status, answer.body.error.details?.[0].path], [400, path], JSON.stringify(answer.body));
	}
	for (const domain of [
		'https://a.example/path',
		'a.example/',
		'*',
		'exa mple.com',
		'*.*.example',
		'ftp://a.example',
	]) {
		const answer = await app.call('POST', DEPLOYMENTS, {
			assistant_id: assistant,
			allowed_domains: ['ok.example', domain],
		});
		if (domain === '*') assert.equal(answer.status, 201);
		else {
			assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request'], domain);
			assert.ok(answer.body.error.message.includes(domain), 'the sentence names the entry');
			assert.deepEqual(
				answer.body.error.details?.map(({ path }: { path: string }) => path),
				['/allowed_domains/1'],
			);
		}
	}
	assert.deepEqual((await app.call('GET', `${DEPLOYMENTS}/${before.id}`)).body, before);
});

test('a deployment can be handed to another assistant, one that exists', async () => {
	const id = await created(app, DEPLOYMENTS, { assistant_id: assistant });
	const heir = await created(app, '/api/v1/assistants', { name: 'Heir' });
	assert.equal((await app.call('PATCH', `${DEPLOYMENTS}/${id}`, { assistant_id: heir })).body.assistant_id, heir);
	for (const assistant_id of ['asst_1', `asst_${'0'.repeat(32)}`]) {
		const answer = await app.call('PATCH', `${DEPLOYMENTS}/${id}`, { assistant_id });
		assert.deepEqual([answer.status, answer.body.error.code], [404, 'not_found']);
		assert.equal((await app.call('POST', DEPLOYMENTS, { assistant_id })).status, 404);
	}
	assert.equal((await app.call('GET', `${DEPLOYMENTS}/${id}`)).body.assistant_id, heir);
});

test('changes at once of different fields are all kept', async () => {
	const id = await created(app, DEPLOYMENTS, { assistant_id: assistant });
	const answers = await Promise.all([
		app.call('PATCH', `${DEPLOYMENTS}/${id}`, { name: 'Renamed' }),
		app.call('PATCH', `${DEPLOYMENTS}/${id}`, { appearance: { theme: 'dark' } }),
		app.call('PATCH', `${DEPLOYMENTS}/${id}`, { appearance: { greeting: 'Hello' } }),
		app.call('PATCH', `${DEPLOYMENTS}/${id}`, { rate_limit: { messages_per_minute: 7 } }),
	]);
	assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
	const { body } = await app.call('GET', `${DEPLOYMENTS}/${id}`);
	assert.deepEqual(
		[body.name, body.appearance.theme, body.appearance.greeting, body.rate_limit.messages_per_minute],
		['Renamed', 'dark', 'Hello', 7],
	);
});
