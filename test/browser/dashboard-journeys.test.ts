import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { setPassword, tokenOf } from '../access/people.ts';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { startCuttableProxy } from '../support/cuttable-proxy.ts';
import { startServer } from '../support/server-process.ts';
import { openDashboard } from './dashboard.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'parley-journeys-'));
let server = await startServer({ dataDir });
after(async () => {
	await server[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true, force: true });
});
const EMAIL = 'ada@example.com';
const { body: invited } = await server.call('POST', '/api/v1/users', { email: EMAIL, role: 'owner' });
await setPassword(server, tokenOf(invited.password_link));

/** The id of a resource after a change. */
async function post(path: string, body: object): Promise<string> {
	const answer = await server.call('POST', `/api/v1/${path}`, body);
	assert.ok(answer.status < 300, JSON.stringify(answer.body));
	return answer.body.id;
}

test('two tabs change the same assistant: the second sees both versions, and its choice appears in the first', {
	skip,
}, async () => {
	const id = await post('assistants', { name: 'Before' });
	await using browser = await startBrowser();
	await using owner = await openDashboard(server, browser, {}, `#/assistants/${id}`, EMAIL);
	const first = owner.page;
	const second = await owner.context.newPage();
	await second.goto(first.url());
	const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click();
	const nameOf = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true });
	await nameOf(second).fill('Of the second tab');
	await nameOf(first).fill('Of the first tab');
	await save(first);
	await first.getByText('Saved.').waitFor();
	await save(second);
	const conflict = second.getByRole('alert');
	await conflict.getByRole('row', { name: 'Name Of the second tab Of the first tab' }).waitFor();
	await conflict.getByRole('button', { name: 'Take the stored one' }).click();
	await conflict.waitFor({ state: 'hidden' });
	assert.equal(await nameOf(second).inputValue(), 'Of the first tab');

	// The other way round, and now the own version wins.
	await nameOf(second).fill('Again of the second tab');
	await nameOf(first).fill('Again of the first tab');
	await save(first);
	await first.getByRole('heading', { name: 'Again of the first tab' }).waitFor();
	await save(second);
	await conflict.getByRole('button', { name: 'Save mine' }).click();
	await second.getByRole('heading', { name: 'Again of the second tab' }).waitFor();
	await first.getByRole('heading', { name: 'Again of the second tab' }).waitFor();
	assert.equal(await nameOf(first).inputValue(), 'Again of the second tab');
	assert.equal((await server.call('GET', `/api/v1/assistants/${id}`)).body.name, 'Again of the second tab');
	assert.deepEqual(owner.foreignRequests, []);
});

test('a change beside the fields of the form is no conflict', { skip }, async () => {
	const id = await post('assistants', { name: 'Quiet' });
	await using browser = await startBrowser();
	await using owner = await openDashboard(server, browser, {}, `#/assistants/${id}`, EMAIL);
	const { page } = owner;
	await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Loud');
	const knowledge_base_id = await post('knowledge-bases', { name: 'Sales' });
	await post(`assistants/${id}/knowledge-bases`, { knowledge_base_id });
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await page.getByText('Saved.').waitFor();
	const { body } = await server.call('GET', `/api/v1/assistants/${id}`);
	assert.deepEqual([body.name, body.knowledge_base_ids], ['Loud', [knowledge_base_id]]);
});

test('the server stops and starts again: a line says so, and what happened meanwhile is shown', { skip }, async () => {
	const assistant_id = await post('assistants', { name: 'Kettle help' });
	const deployment_id = await post('deployments', { assistant_id });
	const ask = (content: string) => post('messages', { deployment_id, content });
	await ask('Asked before');
	// The address stays where the port does not: another program may take it meanwhile.
	await using address = await startCuttableProxy(server.port);
	await using browser = await startBrowser();
	await using agent = await openDashboard(address, browser, {}, '#/inbox', EMAIL);
	const { page } = agent;
	await page.getByRole('link', { name: /Asked before/ }).waitFor();
	await server.stop();
	address.cut();
	const line = page.getByText('The connection to the server is lost.');
	await line.waitFor();
	// Nothing that is loaded goes away, and a change says why it fails.
	await page.getByRole('button', { name: 'Mark all as read' }).click();
	await page.getByText('The server cannot be reached.').waitFor();
	await page.getByRole('link', { name: /Asked before/ }).waitFor();
	// The dashboard comes back after the message, not before it.
	const events = '**/api/v1/events?*';
	await page.route(events, (route) => route.abort());
	server = await startServer({ dataDir, key: server.key });
	address.restore(server.port);
	await ask('Asked meanwhile');
	await page.unroute(events);
	await line.waitFor({ state: 'hidden' });
	await page.getByRole('link', { name: /Asked meanwhile/ }).click();
	await page.getByRole('heading', { name: 'Asked meanwhile' }).waitFor();
	await ask('Asked afterwards');
	await page.getByRole('link', { name: /Asked afterwards/ }).waitFor();
	// The session has survived.
	await page.reload();
	await page.getByRole('link', { name: /Asked afterwards/ }).waitFor();
	assert.equal(await page.getByLabel('Password').count(), 0);
});
