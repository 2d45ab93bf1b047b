// Pictures of all pages of the dashboard, of a server with data as a small shop has them.
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { root, say } from './project.mjs';
import { addSamples, DEADLINE_MS, openBrowser, startServer, until } from './sample-server.mjs';

const FOLDER = '.build/screenshots';
const EMAIL = 'anna@example.com';
const PASSWORD = 'a-long-password-for-pictures';

/** The pages: name of the picture, and the address for the ids of the sample data. */
const PAGES = {
	overview: () => '#/overview',
	inbox: () => '#/inbox',
	conversation: ({ conversation }) => `#/inbox/${conversation}`,
	knowledge: () => '#/knowledge',
	'knowledge-base': ({ knowledgeBase }) => `#/knowledge/${knowledgeBase}`,
	deployments: () => '#/deployments',
	deployment: ({ deployment }) => `#/deployments/${deployment}`,
	assistants: () => '#/assistants',
	assistant: ({ assistant }) => `#/assistants/${assistant}`,
	tools: () => '#/tools',
	'tool-api': ({ api }) => `#/tools/${api}`,
	'tool-mcp-down': ({ mcp }) => `#/tools/${mcp}`,
	'tool-new': () => '#/tools/new',
	webhooks: () => '#/webhooks',
	webhook: ({ webhook }) => `#/webhooks/${webhook}`,
	'webhook-settings': ({ webhook }) => `#/webhooks/${webhook}?tab=settings`,
	'webhook-new': () => '#/webhooks/new',
	delivery: ({ failing, delivery }) => `#/webhooks/${failing}/${delivery}`,
	privacy: () => '#/privacy',
	'privacy-receipt': ({ erasure }) => `#/privacy/${erasure}`,
	people: () => '#/people',
	'api-keys': () => '#/api-keys',
	workspace: () => '#/workspace',
	'audit-log': () => '#/audit-log',
	account: () => '#/account',
};

/** The pictures of docs/dashboard.md, by the page. */
const IN_DOCS = ['conversation', 'audit-log', 'assistant', 'tool-api', 'delivery'];
const LOOK_IN_DOCS = { suffix: '', colorScheme: 'light', viewport: { width: 1200, height: 750 } };

/** The looks of each page. */
const LOOKS = [
	{ suffix: '', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
	{ suffix: '-dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
	{ suffix: '-tablet', colorScheme: 'light', viewport: { width: 1024, height: 768 } },
	{ suffix: '-phone', colorScheme: 'light', viewport: { width: 360, height: 640 }, locale: 'de-DE', hasTouch: true },
];

/** @param words the beginnings of names of pages, none: all; `docs`: the pictures of docs/dashboard.md */
export async function photographDashboard(executablePath, words) {
	mkdirSync(join(root, FOLDER), { recursive: true });
	const peer = await startPeer();
	const server = await startServer({ PARLEY_ALLOW_PRIVATE_NETWORK: '1' });
	const browser = await openBrowser(executablePath);
	try {
		const ids = await fill(server, peer.origin);
		await addOwner(server);
		if (words[0] === 'docs') {
			await photographLook(browser, server.url, LOOK_IN_DOCS, IN_DOCS, ids, 'docs/dashboard-');
			return;
		}
		const names = Object.keys(PAGES).filter(
			(name) => words.length === 0 || words.some((word) => name.startsWith(word)),
		);
		for (const look of LOOKS) await photographLook(browser, server.url, look, names, ids);
		say(`${names.length * LOOKS.length} pictures in ${FOLDER}`);
	} finally {
		await browser.close();
		await server.stop();
		peer.close();
	}
}

/** @param start of the paths of the pictures */
async function photographLook(browser, url, { suffix, ...options }, names, ids, start = `${FOLDER}/`) {
	const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
	context.setDefaultTimeout(DEADLINE_MS);
	const page = await context.newPage();
	const isLoaded = watchRequests(page);
	await page.goto(`${url}/dashboard`);
	await page.getByLabel(/E-mail/i).fill(EMAIL);
	await page.getByLabel(/Passwor/).fill(PASSWORD);
	await page.screenshot({ path: join(root, FOLDER, `sign-in${suffix}.png`), caret: 'hide' });
	await page.getByRole('button', { name: /Sign in|Anmelden/ }).click();
	await page.getByRole('navigation').first().waitFor();
	for (const name of names) {
		await page.goto(`${url}/dashboard${PAGES[name](ids)}`);
		await page.locator('h1').waitFor();
		// A list that loads says so.
		await until(async () => isLoaded() && (await page.locator('.loading-lines').count()) === 0);
		await page.screenshot({ path: join(root, `${start}${name}${suffix}.png`), caret: 'hide', animations: 'disabled' });
	}
	await context.close();
}

/** A function that tells whether every request has its response. Streams of events have no end. */
function watchRequests(page) {
	const open = new Set();
	page.on('request', (request) => {
		if (!new URL(request.url()).pathname.endsWith('/events')) open.add(request);
	});
	for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => open.delete(request));
	return () => open.size === 0;
}

/** An account that signs in. */
async function addOwner({ url, call }) {
	const { password_link } = await call('POST', 'users', { email: EMAIL, name: 'Anna Berg', role: 'owner' });
	const response = await fetch(`${url}/api/v1/session/password`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', origin: url },
		body: JSON.stringify({ token: new URL(password_link).hash.slice(1), password: PASSWORD }),
	});
	if (!response.ok) throw new Error(`The password was not set: ${await response.text()}`);
}

/** The sample data. */
async function fill(server, origin) {
	const { call } = server;
	const knowledge_base_id = await addSamples(server);
	const webhook = await addWebhook(call, `${origin}/hooks/crm`, 'Customer records', [
		'conversation.created',
		'message.created',
	]);
	const failing = await addWebhook(call, `${origin}/down`, 'Warehouse', ['*']);
	const off = await addWebhook(call, `${origin}/hooks/archive`, 'Old archive', ['*']);
	await call('PATCH', `webhooks/${off}`, { status: 'disabled' });
	const assistant = (
		await call('POST', 'assistants', { name: 'Kettle help', description: 'Answers on the shop’s pages.' })
	).id;
	await call('POST', `assistants/${assistant}/knowledge-bases`, { knowledge_base_id });
	await call('POST', 'assistants', { name: 'Staff handbook' });
	const api = await addTools(call, origin, assistant);
	const mcp = (await call('POST', 'tools', { name: 'warehouse', type: 'mcp', config: { url: `${origin}/down` } })).id;
	const deployment = (
		await call('POST', 'deployments', { name: 'Shop', assistant_id: assistant, allowed_domains: ['shop.example'] })
	).id;
	let conversation;
	for (const content of [
		'How many days do I have to return an order?',
		'Is there a warranty on the kettle?',
		'Do you ship to Norway?',
	]) {
		conversation = (await call('POST', 'messages', { deployment_id: deployment, content })).conversation_id;
	}
	const deliveries = await until(async () => {
		const { data } = await call('GET', `webhooks/${failing}/deliveries`);
		return data.some(({ attempts }) => attempts > 0) && data;
	});
	const delivery = deliveries.find(({ attempts }) => attempts > 0).id;
	const erasure = (await call('POST', 'erasures', { end_user_id: 'customer-4711' })).id;
	return {
		knowledgeBase: knowledge_base_id,
		assistant,
		deployment,
		conversation,
		api,
		mcp,
		webhook,
		failing,
		delivery,
		erasure,
	};
}

async function addWebhook(call, url, description, events) {
	return (await call('POST', 'webhooks', { url, description, events })).id;
}

/** The id of an API tool of an assistant. */
async function addTools(call, origin, assistant) {
	const tool = await call('POST', 'tools', {
		name: 'order_status',
		description: 'Looks up an order by its number: what was ordered, where the parcel is, and when it arrives.',
		type: 'api',
		config: {
			method: 'GET',
			url: `${origin}/orders/{order}`,
			headers: { Accept: 'application/json' },
			query: { language: 'en' },
			parameters: {
				type: 'object',
				properties: {
					order: { type: 'string', description: 'The number on the confirmation, for example HB-1042.' },
					with_history: { type: 'boolean', description: 'Whether the stops of the parcel are wanted.' },
				},
				required: ['order'],
			},
			auth: { type: 'bearer', token: 'a-token-for-pictures' },
		},
	});
	await call('POST', `assistants/${assistant}/tools`, { tool_id: tool.id });
	return tool.id;
}

/** An API and receiver of webhooks that answers, and fails below `/down`. */
async function startPeer() {
	const server = createServer((request, response) => {
		request.resume();
		const isDown = request.url.startsWith('/down');
		response.writeHead(isDown ? 503 : 200, { 'content-type': 'application/json' });
		response.end(
			isDown ? '{"error": "The warehouse is closed for maintenance."}' : '{"order": "HB-1042", "state": "shipped"}',
		);
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
