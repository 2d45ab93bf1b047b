import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import { axeFindings } from '../support/axe.ts';
import { OTHER_SITE, noBrowser as skip, startBrowser, startSite } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';
import { TOKENS, tokenFor } from './tokens.ts';

// Without the demo, which would let the server's own pages in.
const app = await startOwnedApp({ demo: false });
after(() => app[Symbol.asyncDispose]());

const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Kettle help' });

async function deploy(settings: object = {}): Promise<string> {
	const { status, body } = await app.call('POST', '/api/v1/deployments', { assistant_id: assistant.id, ...settings });
	assert.equal(status, 201, JSON.stringify(body));
	return body.id;
}

const stored = async (id: string) => (await app.call('GET', `/api/v1/deployments/${id}`)).body;

/** The page in the frame of the preview, once the widget is on it. */
async function previewOf(page: Page): Promise<Frame> {
	const handle = await page.locator('.preview iframe').elementHandle();
	const frame = (await handle?.contentFrame()) as Frame;
	await frame.locator('parley-widget .panel').waitFor();
	return frame;
}

/** The colour of the widget's button, as the browser computes it. */
const buttonColour = (frame: Frame) =>
	frame.evaluate(
		"getComputedStyle(document.querySelector('parley-widget').shadowRoot.querySelector('.launcher')).backgroundColor",
	);

test('the preview shows unsaved changes and answers, although no website is allowed', { skip }, async () => {
	const id = await deploy({ features: { jwt_required: true }, jwt: TOKENS.jwt });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/deployments/${id}`);
	const { page } = owner;
	const frame = await previewOf(page);
	await page.getByLabel('Colour', { exact: true }).fill('#0f766e');
	await until('the preview has the colour', async () => (await buttonColour(frame)) === 'rgb(15, 118, 110)');
	await page.getByLabel('Greeting').fill('Not saved yet');
	await frame.locator('parley-widget .panel').getByText('Not saved yet').waitFor();
	await page.getByLabel('Name of the chat').fill('Kettle desk');
	await frame.locator('parley-widget h2', { hasText: 'Kettle desk' }).waitFor();
	assert.equal((await stored(id)).appearance.primary_color, '#4f46e5');
	const field = frame.locator('parley-widget textarea');
	await field.fill('Do you sell kettles?');
	await field.press('Enter');
	await frame.locator('parley-widget .message.theirs:not(.greeting)').waitFor();
	await frame.locator('parley-widget button[type=submit]').waitFor();
	const { body } = await app.call('GET', `/api/v1/conversations?deployment_id=${id}`);
	assert.deepEqual(
		body.data.map(({ channel, metadata }: { channel: string; metadata: object }) => ({ channel, metadata })),
		[{ channel: 'api', metadata: { preview: true } }],
	);
	await page.getByRole('button', { name: 'Phone' }).click();
	assert.equal(await frame.evaluate('innerWidth <= 360'), true);
	await page.getByLabel('Theme').selectOption('auto');
	await page.getByRole('button', { name: 'Dark page' }).click();
	await frame.locator('parley-widget [data-theme=dark]').first().waitFor({ state: 'attached' });
	assert.deepEqual(owner.problems, []);
});

test('the preview shows what asking for a person looks like, and stores no request', { skip }, async () => {
	const id = await deploy({ features: { handoff: true } });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/deployments/${id}`);
	const frame = await previewOf(owner.page);
	const panel = frame.locator('parley-widget .panel');
	await panel.locator('textarea').fill('Do you sell kettles?');
	await panel.locator('textarea').press('Enter');
	await panel.locator('.suggestions').getByRole('button', { name: 'Talk to a person' }).click();
	const bar = panel.getByRole('group', { name: 'Talk to a person' });
	await bar.getByText('No one is here right now.').waitFor();
	await bar.getByLabel('Get the answer by e-mail, too').fill('ada@example.com');
	await bar.getByRole('button', { name: 'Save' }).click();
	await bar.getByText('We will also answer to ada@example.com.').waitFor();
	const { body } = await app.call('GET', `/api/v1/conversations?deployment_id=${id}`);
	assert.deepEqual(
		body.data.map((each: Record<string, unknown>) => [each.requested_person_at, each.contact_email]),
		[[null, null]],
	);
	await bar.getByRole('button', { name: 'Cancel request' }).click();
	await bar.waitFor({ state: 'detached' });
	assert.deepEqual(owner.problems, []);
});

test('a deployment keeps conversations for its own time after a question, or as the workspace does', {
	skip,
}, async () => {
	const id = await deploy();
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/deployments/${id}?tab=settings`);
	const { page } = owner;
	const keep = page.getByLabel('Keep conversations');
	const save = page.getByRole('button', { name: 'Save', exact: true });
	const dialog = page.getByRole('dialog');
	assert.equal(await keep.inputValue(), 'null');
	await keep.selectOption({ label: 'A number of days after the last message' });
	await page.getByLabel('Days').fill('0');
	await save.click();
	await dialog.getByRole('button', { name: 'Erase older conversations' }).click();
	await page.locator('.field-error').waitFor();
	await page.getByLabel('Days').fill('30');
	await save.click();
	await dialog.getByText('Erase conversations after 30 days?').waitFor();
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	assert.equal((await stored(id)).retention_days, null, 'not before the answer');
	await save.click();
	await dialog.getByRole('button', { name: 'Erase older conversations' }).click();
	await page.getByText('Saved.').waitFor();
	assert.equal((await stored(id)).retention_days, 30);
	await keep.selectOption({ label: 'As the workspace' });
	await save.click();
	await dialog.getByRole('button', { name: 'Save' }).click();
	await until('null is stored', async () => (await stored(id)).retention_days === null);
	assert.deepEqual(owner.problems, []);
});

test('no other website can show the preview, send it a look, or load it without a session', { skip }, async () => {
	const id = await deploy();
	const preview = `${app.url}/dashboard/preview?deployment_id=${id}`;
	const anonymous = await fetch(preview);
	assert.equal(anonymous.status, 401);
	assert.match(anonymous.headers.get('content-security-policy') ?? '', /frame-ancestors 'self'/);
	const withKey = await fetch(preview, { headers: { authorization: `Bearer ${app.key}` } });
	assert.equal(withKey.status, 401, 'only a session opens it');
	assert.equal((await fetch(`${app.url}/dashboard/preview.html`)).status, 404);

	await using site = await startSite();
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser);
	const response = await owner.page.request.get(preview);
	assert.equal(response.status(), 200);
	const { 'content-security-policy': policy = '', 'cross-origin-opener-policy': opener } = response.headers();
	for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'self'", "trusted-types 'none'"]) {
		assert.ok(policy.includes(rule), policy);
	}
	assert.doesNotMatch(policy, /unsafe/);
	assert.equal(opener, 'same-origin');

	site.serve('/frame', `<!doctype html><title>Stranger</title><iframe src="${preview}"></iframe>`);
	site.serve('/opener', '<!doctype html><title>Stranger</title>');
	const look = { type: 'parley:preview-show', scheme: 'light', language: null, ...lookOf(await stored(id)) };
	// The first host is another website; the second is the same site on another port, so the browser sends the session's cookie there.
	for (const host of [OTHER_SITE, '127.0.0.1']) {
		const stranger = await owner.context.newPage();
		await stranger.goto(site.url('/frame', host));
		const isRefused = async () => stranger.frames().some((frame) => frame.url().startsWith('chrome-error:'));
		await until(`the browser has refused the frame on ${host}`, isRefused);
		await stranger.goto(site.url('/opener', host));
		const [popup] = await Promise.all([
			stranger.waitForEvent('popup'),
			stranger.evaluate(`window.opened = open(${JSON.stringify(preview)}); undefined`),
		]);
		await popup.waitForLoadState();
		assert.equal(await popup.title(), 'Preview – Parley', 'the session opens it');
		await stranger.evaluate(`opened.postMessage(${JSON.stringify(look)}, '*')`);
		// The page's own message comes after that of the stranger.
		await popup.evaluate(
			`new Promise((resolve) => { addEventListener('message', resolve); postMessage(${JSON.stringify(look)}, origin); })`,
		);
		assert.equal(await popup.locator('parley-widget').count(), 0, 'alone in a tab it shows nothing');
	}
});

const lookOf = ({ appearance, features }: { appearance: object; features: Record<string, boolean> }) => {
	const { jwt_required: _, ...shown } = features;
	return { appearance, features: shown };
};

test('the preview takes a look from the page around it alone, and only a valid one', { skip }, async () => {
	const id = await deploy({ appearance: { greeting: 'As stored' } });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/deployments/${id}`);
	const { page } = owner;
	const frame = await previewOf(page);
	const look = lookOf(await stored(id));
	const message = (greeting: string, more: object = {}) =>
		JSON.stringify({
			...{ type: 'parley:preview-show', scheme: 'light', language: null, features: look.features },
			appearance: { ...look.appearance, greeting },
			...more,
		});
	await page.evaluate(`(() => {
		const target = document.querySelector('.preview iframe').contentWindow;
		target.postMessage(${message('With an extra member', { html: '<b>' })}, location.origin);
		target.postMessage(${message('Valid')}, location.origin);
	})()`);
	await frame.locator('parley-widget .panel').getByText('Valid').waitFor();
	await frame.evaluate(`new Promise((resolve) => {
		addEventListener('message', resolve);
		postMessage(${message('From itself')}, location.origin);
	})`);
	await page.evaluate(
		`document.querySelector('.preview iframe').contentWindow.postMessage(${message('Last')}, location.origin)`,
	);
	await frame.locator('parley-widget .panel').getByText('Last').waitFor();
	const panel = frame.locator('parley-widget .panel');
	for (const refused of ['With an extra member', 'From itself'])
		assert.equal(await panel.getByText(refused).count(), 0);
});

test("a session does not open the routes of visitors to the server's own pages", async () => {
	const id = await deploy();
	const config = await app.call('GET', `/api/v1/widget/config?deployment_id=${id}`, undefined, { origin: app.url });
	assert.deepEqual([config.status, config.body.error.code], [403, 'domain_not_allowed']);
	const message = { deployment_id: id, content: 'Hello?' };
	const sent = await app.call('POST', '/api/v1/widget/messages', message, { origin: app.url });
	assert.deepEqual([sent.status, sent.body.error.code], [403, 'domain_not_allowed']);
});

test('visitors’ tokens are set up with a generated secret, and the checker says what is wrong with a token', {
	skip,
}, async () => {
	const id = await deploy();
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/deployments/${id}?tab=tokens`);
	const { page } = owner;
	await page.getByLabel('How tokens are signed').selectOption('HS256');
	await page.getByRole('button', { name: 'Generate a secret' }).click();
	const secret = await page.getByRole('region', { name: 'Secret' }).locator('pre').textContent();
	assert.ok(secret !== null && secret.length >= 32);
	await page.getByLabel('Only visitors with a token may write').check();
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('Saved.').waitFor();
	await page.getByText('A secret is stored').waitFor();
	assert.doesNotMatch(await page.content(), new RegExp(secret.replace(/[+/]/g, '\\$&')), 'it is not shown again');
	assert.equal(await page.evaluate(`JSON.stringify({ ...sessionStorage }).includes(${JSON.stringify(secret)})`), false);
	assert.deepEqual((await stored(id)).features.jwt_required, true);
	const checker = page.getByLabel('Check a token');
	await checker.fill(tokenFor('ada'));
	await page.getByRole('button', { name: 'Check', exact: true }).click();
	await page.getByText('Not valid: The signature of the JWT is not valid.').waitFor();
	await app.call('PATCH', `/api/v1/deployments/${id}`, { jwt: TOKENS.jwt });
	await page.getByRole('button', { name: 'Check', exact: true }).click();
	await page.getByText('Valid. It identifies ada · Ada').waitFor();
	await page.getByLabel('Programming language').selectOption('python');
	await page.getByText('hmac.new(secret').waitFor();
	assert.deepEqual(owner.problems, []);
});

test('questions are added, moved by keyboard and removed; a rejected field says why', { skip }, async () => {
	const id = await deploy({ appearance: { suggested_questions: ['One?', 'Two?'] } });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/deployments/${id}`);
	const { page } = owner;
	await page.getByRole('textbox', { name: 'Question 2' }).press('Alt+ArrowUp');
	assert.equal(await page.getByRole('textbox', { name: 'Question 1' }).inputValue(), 'Two?');
	await page.getByText('The question is now number 1.').waitFor({ state: 'attached' });
	await page.getByRole('button', { name: 'Add a question' }).click();
	await page.keyboard.type('Three?');
	await page.getByRole('button', { name: 'Remove question 2' }).click();
	await page.getByLabel('Address of the logo').fill('http://shop.example/logo.png');
	await page.keyboard.press('Control+s');
	await page.getByText('must be an https URL').waitFor();
	await page.getByLabel('Address of the logo').fill('');
	await page.keyboard.press('Control+s');
	await page.getByText('Saved.').waitFor();
	assert.deepEqual((await stored(id)).appearance.suggested_questions, ['Two?', 'Three?']);
	await page.getByLabel('Colour', { exact: true }).fill('#ffff00');
	await page.getByText('hard to see on a light background').waitFor();
});

test('a wrong entry of the allowlist is named, also when another part is shown', { skip }, async () => {
	const id = await deploy();
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/deployments/${id}?tab=websites`);
	const { page } = owner;
	await page.getByLabel('Allowed websites').fill('shop.example\nshop.example/path');
	await page.getByRole('link', { name: 'Settings' }).click();
	await page.getByLabel('Messages a minute').fill('7');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('"shop.example/path" is not a domain').waitFor();
	await page.getByLabel('Allowed websites').fill('shop.example');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('Saved.').waitFor();
	const { allowed_domains, rate_limit } = await stored(id);
	assert.deepEqual([allowed_domains, rate_limit.messages_per_minute], [['shop.example'], 7]);
});

test('a conflict shows both versions; an archived deployment can be activated again', { skip }, async () => {
	const id = await deploy();
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/deployments/${id}`);
	const { page } = owner;
	await page.getByLabel('Greeting').fill('Mine');
	await app.call('PATCH', `/api/v1/deployments/${id}`, { appearance: { greeting: 'Theirs', radius: 'large' } });
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	const conflict = page.getByRole('alert');
	await conflict.getByText('Theirs').waitFor();
	await conflict.getByRole('button', { name: 'Save mine' }).click();
	await page.getByText('Saved.').waitFor();
	const { appearance } = await stored(id);
	assert.deepEqual(
		[appearance.greeting, appearance.radius],
		['Mine', 'large'],
		'only the changed field is overwritten',
	);
	await page.getByRole('button', { name: 'Archive' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
	await page.getByText('The deployment was archived.').waitFor();
	await page.getByRole('button', { name: 'Activate again' }).click();
	await page.getByText('The deployment is active again.').waitFor();
	assert.equal((await stored(id)).status, 'active');
});

test('a list that cannot be loaded says so, and loads again on request', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser);
	const { page } = owner;
	const pattern = '**/api/v1/deployments?*';
	await page.route(pattern, (route) => route.fulfill({ status: 404, json: { error: { message: 'Not now.' } } }));
	await page.goto(`${app.url}/dashboard#/deployments`);
	await page.getByRole('alert').getByText('Not now.').waitFor();
	await page.unroute(pattern);
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.getByRole('table').waitFor();
});

test('axe finds nothing wrong in light and dark, in English and German, and a phone needs no sideways scrolling', {
	skip,
}, async () => {
	const name = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenladen';
	const appearance = { primary_color: '#ffff00', suggested_questions: ['How long is the warranty?', 'When?'] };
	const id = await deploy({ name, appearance, allowed_domains: ['*'], jwt: TOKENS.jwt });
	await using browser = await startBrowser();
	for (const [colorScheme, locale, width] of [
		['light', 'en-GB', 1440],
		['dark', 'de-DE', 320],
	] as const) {
		const options = { colorScheme, locale, bypassCSP: true, viewport: { width, height: 640 } };
		await using owner = await openDashboard(app, browser, options);
		const hashes = ['appearance', 'websites', 'settings', 'tokens'].map((tab) => `#/deployments/${id}?tab=${tab}`);
		for (const hash of ['#/deployments', ...hashes]) {
			await owner.page.goto(`${app.url}/dashboard${hash}`);
			await owner.page.locator('h1').waitFor();
			await owner.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
			assert.deepEqual(await axeFindings(owner.page), [], `${hash} ${colorScheme}`);
			assert.equal(await overflowOf(owner.page), 0, `${hash} is wider than ${width} pixels`);
		}
	}
});
