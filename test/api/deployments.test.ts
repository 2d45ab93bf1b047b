import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import test, { after } from 'node:test';
import { signWithSecret } from '../access/signers.ts';
import { startTestApp } from '../support/app.ts';
import { DEFAULT_APPEARANCE } from '../support/default-appearance.ts';
import { createApiFixture, createResource } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const DEPLOYMENTS = '/api/v1/deployments';
const assistant = await createResource(app, '/api/v1/assistants', { name: 'Guide' });

test('returns a new deployment with its defaults, which allows no origin', async () => {
	const { status, body } = await app.call('POST', DEPLOYMENTS, { assistant_id: assistant });
	assert.equal(status, 201);
	const { id, created_at, updated_at, appearance, ...rest } = body;
	assert.match(id, /^dep_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.equal(updated_at, created_at);
	assert.deepEqual(rest, {
		name: 'Guide',
		assistant_id: assistant,
		allowed_domains: [],
		features: { streaming: true, rich_content: true, jwt_required: false, ai_disclosure: true, handoff: false },
		rate_limit: { messages_per_minute: 20 },
		time_zone: 'UTC',
		budget: null,
		visitor_budget: null,
		retention_days: null,
		jwt: null,
		status: 'active',
	});
	assert.deepEqual(
		{ ...appearance, greeting: '' },
		{
			...DEFAULT_APPEARANCE,
			greeting: '',
		},
	);
	assert.deepEqual((await app.call('GET', `${DEPLOYMENTS}/${id}`)).body, body);
});

test('merges appearance and features field by field, and replaces lists', async () => {
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
		features: { streaming: false, rich_content: false, jwt_required: false, ai_disclosure: true, handoff: false },
		updated_at: body.updated_at,
	});
});

test("sets the widget's texts and logo, clears them with null, and rejects unsafe values", async () => {
	const { body: made } = await app.call('POST', DEPLOYMENTS, {
		assistant_id: assistant,
		appearance: { assistant_name: 'Kettle help', logo_url: 'https://shop.example/logo.png', radius: 'large' },
		features: { ai_disclosure: false },
	});
	assert.deepEqual(
		[made.appearance.assistant_name, made.appearance.logo_url, made.appearance.radius, made.features.ai_disclosure],
		['Kettle help', 'https://shop.example/logo.png', 'large', false],
	);
	const { body } = await app.call('PATCH', `${DEPLOYMENTS}/${made.id}`, {
		appearance: { logo_url: null, status_text: 'Answers from our manuals' },
	});
	assert.deepEqual(
		[body.appearance.assistant_name, body.appearance.logo_url, body.appearance.status_text],
		['Kettle help', null, 'Answers from our manuals'],
	);
	for (const [field, value] of [
		['logo_url', 'http://shop.example/logo.png'],
		['logo_url', 'data:image/svg+xml,<svg/>'],
		['privacy_url', 'javascript:alert(1)'],
		['assistant_name', '   '],
		['font_family', 'url(https://evil.example/)'],
		['radius', '12px'],
	] as const) {
		const response = await app.call('PATCH', `${DEPLOYMENTS}/${made.id}`, { appearance: { [field]: value } });
		assert.equal(response.status, 400, `${field} ${value}`);
		assert.equal(response.body.error.details[0].path, `/appearance/${field}`);
	}
});

test('archives and reactivates a deployment', async () => {
	const id = await createResource(app, DEPLOYMENTS, { assistant_id: assistant });
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

test('filters the list by status and by assistant', async () => {
	const fixture = await createApiFixture(app);
	const second = await createResource(app, DEPLOYMENTS, { assistant_id: fixture.assistant });
	await app.call('DELETE', `${DEPLOYMENTS}/${second}`);
	const ids = async (query: string) =>
		(await app.call('GET', `${DEPLOYMENTS}?${query}`)).body.data.map(({ id }: { id: string }) => id);
	assert.deepEqual(await ids(`assistant_id=${fixture.assistant}`), [second, fixture.deployment]);
	assert.deepEqual(await ids(`assistant_id=${fixture.assistant}&status=archived`), [second]);
	assert.deepEqual(await ids(`assistant_id=${fixture.assistant}&status=active`), [fixture.deployment]);
	assert.deepEqual(await ids('assistant_id=asst_1'), []);
});

test('rejects invalid settings, names the field and changes nothing', async () => {
	const { body: before } = await app.call('POST', DEPLOYMENTS, { assistant_id: assistant });
	const refused: Array<[body: unknown, path: string]> = [
		[{ appearance: { primary_color: 'red' } }, '/appearance/primary_color'],
		[{ appearance: { theme: 'blue' } }, '/appearance/theme'],
		[{ appearance: { position: 'top' } }, '/appearance/position'],
		[{ appearance: { suggested_questions: Array(11).fill('Why?') } }, '/appearance/suggested_questions'],
		[{ features: { magic: true } }, '/features/magic'],
		[{ rate_limit: { messages_per_minute: 0 } }, '/rate_limit/messages_per_minute'],
		[{ time_zone: 'Mars/Olympus' }, '/time_zone'],
		[{ time_zone: '+01:00' }, '/time_zone'],
		[{ allowed_domains: 'a.example' }, '/allowed_domains'],
		[{ name: null }, '/name'],
	];
	for (const [body, path] of refused) {
		const response = await app.call('PATCH', `${DEPLOYMENTS}/${before.id}`, body);
		assert.deepEqual(
			[response.status, response.body.error.details?.[0].path],
			[400, path],
			JSON.stringify(response.body),
		);
	}
	for (const domain of [
		'https://a.example/path',
		'a.example/',
		'*',
		'exa mple.com',
		'*.*.example',
		'ftp://a.example',
	]) {
		const response = await app.call('POST', DEPLOYMENTS, {
			assistant_id: assistant,
			allowed_domains: ['ok.example', domain],
		});
		if (domain === '*') assert.equal(response.status, 201);
		else {
			assert.deepEqual([response.status, response.body.error.code], [400, 'invalid_request'], domain);
			assert.ok(response.body.error.message.includes(domain), 'the sentence names the entry');
			assert.deepEqual(
				response.body.error.details?.map(({ path }: { path: string }) => path),
				['/allowed_domains/1'],
			);
		}
	}
	assert.deepEqual((await app.call('GET', `${DEPLOYMENTS}/${before.id}`)).body, before);
});

test('a deployment has a retention of its own, which null takes away', async () => {
	const created = await app.call('POST', DEPLOYMENTS, { assistant_id: assistant, retention_days: 30 });
	assert.deepEqual([created.status, created.body.retention_days], [201, 30]);
	const path = `${DEPLOYMENTS}/${created.body.id}`;
	const change = (retention_days: unknown) => app.call('PATCH', path, { retention_days });
	assert.deepEqual((await change(36_500)).body.retention_days, 36_500);
	for (const wrong of [0, 36_501, 1.5, '30']) {
		const { status, body } = await change(wrong);
		assert.deepEqual([status, body.error.details[0].path], [400, '/retention_days'], String(wrong));
	}
	assert.equal((await app.call('GET', path)).body.retention_days, 36_500);
	assert.equal((await change(null)).body.retention_days, null);
});

test('moves a deployment to another assistant that exists', async () => {
	const id = await createResource(app, DEPLOYMENTS, { assistant_id: assistant });
	const heir = await createResource(app, '/api/v1/assistants', { name: 'Heir' });
	assert.equal((await app.call('PATCH', `${DEPLOYMENTS}/${id}`, { assistant_id: heir })).body.assistant_id, heir);
	for (const assistant_id of ['asst_1', `asst_${'0'.repeat(32)}`]) {
		const response = await app.call('PATCH', `${DEPLOYMENTS}/${id}`, { assistant_id });
		assert.deepEqual([response.status, response.body.error.code], [404, 'not_found']);
		assert.equal((await app.call('POST', DEPLOYMENTS, { assistant_id })).status, 404);
	}
	assert.equal((await app.call('GET', `${DEPLOYMENTS}/${id}`)).body.assistant_id, heir);
});

test('keeps all concurrent changes of different fields', async () => {
	const id = await createResource(app, DEPLOYMENTS, { assistant_id: assistant });
	const responses = await Promise.all([
		app.call('PATCH', `${DEPLOYMENTS}/${id}`, { name: 'Renamed' }),
		app.call('PATCH', `${DEPLOYMENTS}/${id}`, { appearance: { theme: 'dark' } }),
		app.call('PATCH', `${DEPLOYMENTS}/${id}`, { appearance: { greeting: 'Hello' } }),
		app.call('PATCH', `${DEPLOYMENTS}/${id}`, { rate_limit: { messages_per_minute: 7 } }),
	]);
	assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
	const { body } = await app.call('GET', `${DEPLOYMENTS}/${id}`);
	assert.deepEqual(
		[body.name, body.appearance.theme, body.appearance.greeting, body.rate_limit.messages_per_minute],
		['Renamed', 'dark', 'Hello', 7],
	);
});

const SECRET = 'a secret of the shop, long enough';
const pemOf = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ type: 'spki', format: 'pem' }) as string;
const rsaKey = pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }));
const NO_JWT = { secret: null, public_key: null, jwks_url: null, audience: null, issuer: null };

test('shows the settings of token verification except the secret', async () => {
	const jwt = { algorithm: 'HS256', secret: SECRET, audience: 'chat' };
	const { status, body } = await app.call('POST', DEPLOYMENTS, { assistant_id: assistant, jwt });
	assert.equal(status, 201);
	const shown = { ...NO_JWT, algorithm: 'HS256', secret: '***', audience: 'chat' };
	assert.deepEqual(body.jwt, shown);
	assert.deepEqual((await app.call('GET', `${DEPLOYMENTS}/${body.id}`)).body.jwt, shown);
	const { body: list } = await app.call('GET', DEPLOYMENTS);
	assert.deepEqual(list.data.find(({ id }: { id: string }) => id === body.id).jwt, shown);
	const turned = await app.call('PATCH', `${DEPLOYMENTS}/${body.id}`, {
		jwt: { algorithm: 'RS256', secret: null, public_key: rsaKey, audience: null },
	});
	assert.deepEqual(turned.body.jwt, { ...NO_JWT, algorithm: 'RS256', public_key: rsaKey });
	const cleared = await app.call('PATCH', `${DEPLOYMENTS}/${body.id}`, { jwt: null });
	assert.deepEqual([cleared.status, cleared.body.jwt], [200, null]);
});

test('keeps the secret when a client sends back what it read', async () => {
	const { body } = await app.call('POST', DEPLOYMENTS, {
		assistant_id: assistant,
		allowed_domains: ['shop.example'],
		features: { jwt_required: true },
		jwt: { algorithm: 'HS256', secret: SECRET },
	});
	const { id, created_at: _created, updated_at: _updated, ...whole } = body;
	const same = await app.call('PATCH', `${DEPLOYMENTS}/${id}`, whole);
	assert.deepEqual([same.status, same.body.jwt], [200, body.jwt]);
	const token = signWithSecret(SECRET, { sub: 'ann', exp: Date.now() / 1000 + 600 });
	const path = `/api/v1/widget/conversations/conv_1/messages?deployment_id=${id}`;
	const visit = (bearer: string) => app.callAsVisitor('GET', path, undefined, { authorization: `Bearer ${bearer}` });
	assert.equal((await visit(token)).status, 404, 'the visitor is admitted, but the conversation does not exist');
	assert.equal((await visit(`${token}x`)).status, 401);
});

test('rejects invalid settings for tokens, names the field and changes nothing', async () => {
	const base = { algorithm: 'RS256', public_key: rsaKey };
	const { body: before } = await app.call('POST', DEPLOYMENTS, { assistant_id: assistant, jwt: base });
	const refused: Array<[jwt: unknown, path: string, code?: string]> = [
		[{ algorithm: 'none' }, '/jwt/algorithm'],
		[{ algorithm: 'HS512' }, '/jwt/algorithm'],
		[{ algorithm: null }, '/jwt/algorithm'],
		[{ algorithm: 'ES256' }, '/jwt/public_key'],
		[{ algorithm: 'HS256', public_key: null }, '/jwt/secret'],
		[{ algorithm: 'HS256', public_key: null, secret: 'too short' }, '/jwt/secret'],
		[{ secret: SECRET }, '/jwt/secret'],
		[{ public_key: 'no key' }, '/jwt/public_key'],
		[{ public_key: null }, '/jwt/public_key'],
		[{ jwks_url: 'https://id.example/keys' }, '/jwt/jwks_url'],
		[{ public_key: null, jwks_url: 'http://id.example/keys' }, '/jwt/jwks_url', 'url_not_allowed'],
		[{ public_key: null, jwks_url: 'https://10.0.0.1/keys' }, '/jwt/jwks_url', 'url_not_allowed'],
		[{ audience: '' }, '/jwt/audience'],
		[{ audience: ['a', 'b'] }, '/jwt/audience'],
		[{ issuer: 7 }, '/jwt/issuer'],
		[{ kid: 'one' }, '/jwt/kid'],
		['HS256', '/jwt'],
		[[], '/jwt'],
	];
	for (const [jwt, path, code = 'invalid_request'] of refused) {
		const response = await app.call('PATCH', `${DEPLOYMENTS}/${before.id}`, { jwt });
		const { error } = response.body;
		assert.deepEqual([response.status, error.code], [400, code], JSON.stringify(response.body));
		assert.equal(error.details[0].path, path);
		const merged = typeof jwt === 'object' && !Array.isArray(jwt) ? { ...base, ...jwt } : jwt;
		const made = await app.call('POST', DEPLOYMENTS, { assistant_id: assistant, jwt: merged });
		assert.deepEqual([made.status, made.body.error?.details[0].path], [400, path], JSON.stringify(made.body));
	}
	assert.deepEqual((await app.call('GET', `${DEPLOYMENTS}/${before.id}`)).body, before);
});

test('a deployment cannot require tokens that it cannot verify', async () => {
	const required = { features: { jwt_required: true } };
	const { id } = (await app.call('POST', DEPLOYMENTS, { assistant_id: assistant })).body;
	for (const response of [
		await app.call('POST', DEPLOYMENTS, { assistant_id: assistant, ...required }),
		await app.call('PATCH', `${DEPLOYMENTS}/${id}`, required),
	]) {
		assert.deepEqual([response.status, response.body.error.details[0].path], [400, '/jwt']);
		assert.match(response.body.error.message, /jwt_required/);
	}
	const jwt = { algorithm: 'HS256', secret: SECRET };
	assert.equal((await app.call('PATCH', `${DEPLOYMENTS}/${id}`, { ...required, jwt })).status, 200);
	const cleared = await app.call('PATCH', `${DEPLOYMENTS}/${id}`, { jwt: null });
	assert.deepEqual([cleared.status, cleared.body.error.details[0].path], [400, '/jwt']);
	const { body } = await app.call('GET', `${DEPLOYMENTS}/${id}`);
	assert.deepEqual([body.features.jwt_required, body.jwt.secret], [true, '***']);
});
