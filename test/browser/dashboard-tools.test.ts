import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { axeFindings } from '../support/axe.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { apiPeer } from '../tools/api-peer.ts';
import { mcpPeer, textResult } from '../tools/mcp-peer.ts';
import { openDashboard, overflowOf, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp({ allow_private_network: true });
after(() => app[Symbol.asyncDispose]());

/** A resource that a request creates. */
async function create(path: string, body: object): Promise<{ id: string }> {
	const created = await app.call('POST', path, body);
	assert.equal(created.status, 201, JSON.stringify(created.body));
	return created.body;
}

const parameters = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] };
const orderStatus = (origin: string, more: object = {}) => ({
	name: 'order_status',
	type: 'api',
	config: { method: 'GET', url: `${origin}/orders/{order}`, parameters, ...more },
});

test('an owner makes a tool from a form, tries it, and its secret stays on the server', { skip }, async () => {
	await using peer = await apiPeer();
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/tools');
	const { page } = owner;
	await page.getByRole('link', { name: 'New tool' }).first().click();
	await page.getByLabel('Name', { exact: true }).fill('order_lookup');
	await page.getByLabel('Description', { exact: true }).fill('Looks up an order.');
	await page.getByLabel('URL').fill(`${peer.origin}/orders/{order}`);
	await page.getByRole('button', { name: 'Add to the parameters' }).click();
	await page.getByLabel('Description, row 1').fill('The number of the order.');
	await page.getByRole('group', { name: 'Query' }).getByRole('button', { name: 'Add a row' }).click();
	await page.getByLabel('Name, row 1').last().fill('units');
	await page.getByLabel('Value, row 1').fill('metric');
	await page.getByLabel('Authentication').selectOption('bearer');
	await page.getByLabel('Token').fill('a-long-secret-token');
	assert.equal(await page.evaluate("JSON.stringify({ ...sessionStorage }).includes('a-long-secret')"), false);
	await page.getByRole('button', { name: 'Create', exact: true }).click();
	await page.getByRole('heading', { name: 'order_lookup' }).waitFor();
	assert.equal(await page.getByLabel('Token').inputValue(), '');

	await page.getByLabel('order *').fill('A 4711');
	await page.getByRole('button', { name: 'Call', exact: true }).click();
	await page.getByText('Succeeded').waitFor();
	await page.getByText(`GET ${peer.origin}/orders/A%204711?units=metric`).waitFor();
	assert.equal(peer.requests[0]?.headers.authorization, 'Bearer a-long-secret-token');
	assert.equal((await page.content()).includes('a-long-secret'), false);

	peer.respond = (response) => void response.writeHead(404, { 'content-type': 'text/plain' }).end('no such order');
	await page.getByRole('button', { name: 'Call', exact: true }).click();
	await page.getByText('The API answered with status 404.', { exact: true }).waitFor();
	await page.getByText('no such order').waitFor();

	await page.getByRole('button', { name: 'Remove row 1' }).last().click();
	await page.keyboard.press('Control+s');
	await page.getByText('Saved.').waitFor();
	const { data } = (await app.call('GET', '/api/v1/tools')).body;
	const { config } = data.find(({ name }: { name: string }) => name === 'order_lookup');
	assert.deepEqual([config.query, config.auth], [{}, { type: 'bearer', token: '***' }]);
	peer.respond = (response) => void response.setHeader('content-type', 'text/plain').end('found');
	await page.getByRole('button', { name: 'Call', exact: true }).click();
	await page.getByText('found', { exact: true }).waitFor();
	assert.equal(peer.requests.at(-1)?.headers.authorization, 'Bearer a-long-secret-token', 'the secret is kept');
	assert.deepEqual([owner.problems, owner.foreignRequests], [[], []]);
});

test('the functions of an MCP server are chosen and tried, and a server that is down says so', { skip }, async () => {
	await using peer = await mcpPeer({
		stock_level: {
			description: 'How many there are.',
			inputSchema: { type: 'object', properties: { article: { type: 'string' }, count: { type: 'integer' } } },
			call: ({ article, count }) => textResult(`7 of ${article}, ${count}`),
		},
		delete_all: {},
	});
	const { id } = await create('/api/v1/tools', { name: 'warehouse', type: 'mcp', config: { url: peer.url } });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/tools/${id}`);
	const { page } = owner;
	await page.getByLabel('All functions').uncheck();
	await page.getByLabel('delete_all').uncheck();
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('Saved.').waitFor();
	assert.deepEqual((await app.call('GET', `/api/v1/tools/${id}`)).body.config.allowed_tools, ['stock_level']);
	await page.getByLabel('article').fill('4711');
	await page.getByLabel('count').fill('3');
	await page.getByRole('button', { name: 'Call', exact: true }).click();
	await page.getByText('7 of 4711, 3').waitFor();
	await page.getByRole('button', { name: 'Arguments as JSON' }).click();
	await page.getByLabel('Arguments (JSON)').fill('{"article": "4712", "count": 1}');
	await page.getByRole('button', { name: 'Call', exact: true }).click();
	await page.getByText('7 of 4712, 1').waitFor();

	peer.override = (_request, response) => Boolean(response.writeHead(500).end('no'));
	peer.forgetSessions();
	await page.reload();
	await page.getByText('This could not be loaded').first().waitFor();
	peer.override = () => false;
	await page.getByRole('button', { name: 'Try again' }).first().click();
	await page.getByLabel('stock_level').waitFor();
});

test('a tool is deleted after a question that names the assistants that lose it', { skip }, async () => {
	const { id } = await create('/api/v1/tools', orderStatus('https://api.example.com'));
	const assistant = await create('/api/v1/assistants', { name: 'Order help' });
	await app.call('POST', `/api/v1/assistants/${assistant.id}/tools`, { tool_id: id });
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/tools/${id}`);
	const { page } = owner;
	const dialog = page.getByRole('dialog');
	await page.getByRole('button', { name: 'Disable' }).click();
	await dialog.getByText('Order help').waitFor();
	await dialog.getByRole('button', { name: 'Disable' }).click();
	await page.getByText('The tool was disabled.').waitFor();
	await page.getByRole('button', { name: 'Enable' }).click();
	await page.getByText('The tool is active again.').waitFor();
	await page.getByRole('button', { name: 'Delete' }).click();
	await dialog.getByText('Order help').waitFor();
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	await page.getByRole('button', { name: 'Delete' }).click();
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await page.getByText('order_status was deleted.').waitFor();
	assert.equal((await app.call('GET', `/api/v1/tools/${id}`)).status, 404);
});

test('unsaved changes stay without the secret, a conflict shows both versions, and mistakes stand beside their field', {
	skip,
}, async () => {
	const { id } = await create(
		'/api/v1/tools',
		orderStatus('https://api.example.com', { headers: { Accept: 'text/*' } }),
	);
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, `#/tools/${id}`);
	const { page } = owner;
	await page.getByLabel('Value, row 1').fill('text/plain');
	await page.getByRole('link', { name: 'Tools' }).first().click();
	await page.getByRole('link', { name: 'order_status' }).click();
	await page.getByText('Unsaved changes', { exact: true }).waitFor();
	assert.equal(await page.getByLabel('Value, row 1').inputValue(), 'text/plain');
	await app.call('PATCH', `/api/v1/tools/${id}`, { config: { headers: { Accept: 'text/html' }, timeout_ms: 5_000 } });
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	const conflict = page.getByRole('alert');
	await conflict.getByText('Accept: text/html').waitFor();
	await conflict.getByText('Accept: text/plain').waitFor();
	await conflict.getByRole('button', { name: 'Save mine' }).click();
	await page.getByText('Saved.').waitFor();
	const { config } = (await app.call('GET', `/api/v1/tools/${id}`)).body;
	assert.deepEqual([config.headers, config.timeout_ms], [{ Accept: 'text/plain' }, 5_000], 'their other change stays');

	await page.getByRole('button', { name: 'Edit as JSON Schema' }).click();
	await page.getByLabel('Parameters').fill('{"type": "object"');
	await page.getByText('This is not valid JSON').waitFor();
	await page.getByLabel('Parameters').fill('{"type": "object", "properties": {}}');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.locator('.field-error').waitFor();
});

test('axe finds nothing wrong in light and dark, in English and German, and a phone needs no sideways scrolling', {
	skip,
}, async () => {
	const auth = { type: 'header', name: 'X-Api-Key', value: 'secret' };
	const more = { headers: { Accept: 'text/*' }, query: { units: 'metric' }, auth };
	const { id } = await create('/api/v1/tools', {
		...orderStatus('https://api.example.com', more),
		name: 'o'.repeat(64),
	});
	await using browser = await startBrowser();
	for (const [colorScheme, locale, width] of [
		['light', 'en-GB', 1440],
		['dark', 'de-DE', 320],
	] as const) {
		const options = { colorScheme, locale, bypassCSP: true, viewport: { width, height: 640 } };
		await using owner = await openDashboard(app, browser, options);
		for (const hash of ['#/tools', '#/tools/new', '#/tools/new?type=mcp', `#/tools/${id}`]) {
			await owner.page.goto(`${app.url}/dashboard${hash}`);
			await owner.page.locator('h1').waitFor();
			await owner.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
			assert.deepEqual(await axeFindings(owner.page), [], `${hash} ${colorScheme}`);
			assert.equal(await overflowOf(owner.page), 0, `${hash} is wider than ${width} pixels`);
		}
	}
});
