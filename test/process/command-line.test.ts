import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { createApiKey, insertKey, insertWorkspace, isApiKey } from '../../src/access/index.ts';
import { newId } from '../../src/base/index.ts';
import { commands, findCommand, runCommand } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { openCookieClient } from '../access/people.ts';
import { firstStep, setUpTotp } from '../access/totp.ts';
import { eventsOf } from '../support/event-stream.ts';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';

const PASSWORD = 'four ducks on a pond';

/** Runs a command. The port is part of the links that commands print. */
const parley = (dataDir: string, ...args: string[]) => runProgram(dataDir, args, { PARLEY_PORT: '8099' });

/** The output of a command that must succeed, without its last line break. */
async function answer(dataDir: string, ...args: string[]): Promise<string> {
	const { code, out, err } = await parley(dataDir, ...args);
	assert.equal(code, 0, `${args.join(' ')}: ${err}`);
	return out.replace(/\n$/, '');
}

/** A call with another key than the server's first one. */
function as(server: ServerProcess, key: string) {
	return (method: string, path: string, body?: unknown) =>
		server.call(method, path, body, { authorization: `Bearer ${key}` });
}

test('keys made and revoked beside a running server take effect with the next request', async () => {
	await using server = await startServer();
	const { dataDir } = server;
	const made = await parley(
		dataDir,
		'keys',
		'create',
		'--name',
		'Nightly',
		'--scope',
		'assistants:read',
		'--expires',
		'30d',
	);
	assert.deepEqual([made.code, made.out.split('\n').length], [0, 2], made.err);
	const key = made.out.trim();
	assert.ok(isApiKey(key), 'standard output has the key and nothing else');
	const id = /key_\w{32}/.exec(made.err)?.[0] ?? '';
	const call = as(server, key);
	assert.equal((await call('GET', '/api/v1/assistants')).status, 200);
	assert.equal((await call('POST', '/api/v1/assistants', { name: 'x' })).status, 403);
	const shown = (await server.call('GET', `/api/v1/api-keys/${id}`)).body;
	assert.deepEqual([shown.name, shown.scopes, shown.prefix], ['Nightly', ['assistants:read'], key.slice(0, 8)]);
	const days = (Date.parse(shown.expires_at) - Date.parse(shown.created_at)) / (24 * 3_600_000);
	assert.equal(days, 30);

	const list = await answer(dataDir, 'keys', 'list');
	const row = list.split('\n').find((line) => line.startsWith(id)) ?? '';
	assert.match(row, /assistants:read +Nightly$/);
	assert.ok(!list.includes(key.slice(8)));

	const follower = await inProcess(dataDir, 'keys', 'create', '--scope', 'conversations:read,messages:write');
	const stream = await follow(server, follower);
	const followerId = /(key_\w{32}) .*conversations:read,messages:write/.exec(
		await inProcess(dataDir, 'keys', 'list'),
	)?.[1];
	assert.equal(await answer(dataDir, 'keys', 'revoke', id), `${id} is revoked.`);
	assert.equal((await call('GET', '/api/v1/assistants')).status, 401);
	await inProcess(dataDir, 'keys', 'revoke', followerId ?? '');
	await stream.ended;
});

/** Follows a conversation with a key, until the server ends the stream. */
async function follow(server: ServerProcess, key: string): Promise<{ ended: Promise<void> }> {
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Guide' });
	const deployment = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	const sent = await as(server, key)('POST', '/api/v1/messages', { deployment_id: deployment.body.id, content: 'Hi' });
	const response = await fetch(`${server.url}/api/v1/conversations/${sent.body.conversation_id}/events`, {
		headers: { authorization: `Bearer ${key}` },
		signal: AbortSignal.timeout(120_000),
	});
	assert.equal(response.status, 200);
	const ended = (async () => {
		for await (const _ of eventsOf(response)) {
			// Nothing more happens in this conversation.
		}
	})();
	return { ended };
}

test('the command line makes a workspace, its plan and its users, with or without a server', async (t) => {
	const dataDir = await temporaryFolder(t);
	let key: string;
	{
		await using server = await startServer({ dataDir });
		key = server.key;
		await server.stop();
	}
	const workspace = await answer(dataDir, 'workspaces', 'create', 'Hollowbrook');
	assert.match(workspace, /^ws_\w{32}$/);
	const first = await parley(dataDir, 'users', 'create', 'Ada@Example.com', '--workspace', workspace);
	assert.match(first.err, /is owner of/, 'the first of a workspace is an owner');
	const link = /^http:\/\/127\.0\.0\.1:8099\/set-password#([\w-]{43})\n$/.exec(first.out);
	assert.ok(link, first.out);
	const second = await parley(dataDir, 'users', 'create', 'bo@example.com', '--workspace', workspace, '--name', 'Bo');
	assert.match(second.err, /is member of/);
	const theirs = await inProcess(dataDir, 'keys', 'create', '--workspace', workspace);

	await using server = await startServer({ dataDir, key, env: { PARLEY_RATE_LIMIT: undefined } });
	const call = as(server, theirs);
	assert.equal((await call('GET', '/api/v1/workspace')).body.name, 'Hollowbrook');
	const limit = async () => (await call('GET', '/api/v1/workspace')).headers.get('x-ratelimit-limit');
	assert.equal(await limit(), '6000');
	await inProcess(dataDir, 'workspaces', 'set-plan', workspace, 'free');
	assert.equal(await limit(), '60', 'a running server takes the plan from the next request on');
	for (let at = 0; at < 3; at++) assert.equal((await call('POST', '/api/v1/assistants', { name: 'x' })).status, 201);
	const fourth = await call('POST', '/api/v1/assistants', { name: 'x' });
	assert.deepEqual([fourth.status, fourth.body.error.code], [403, 'plan_limit_exceeded']);

	const set = (token: string) => server.call('POST', '/api/v1/session/password', { token, password: PASSWORD });
	const answered = await set(link[1] as string);
	assert.deepEqual([answered.status, answered.body.workspace.id], [200, workspace]);
	const again = await inProcess(dataDir, 'users', 'reset-password', 'ADA@example.com');
	assert.equal((await set(again.split('#')[1] as string)).status, 200);
	const signedIn = await server.call('POST', '/api/v1/session', { email: 'ada@example.com', password: PASSWORD });
	assert.deepEqual([signedIn.status, signedIn.body.user.role], [201, 'owner']);

	const browser = openCookieClient(server);
	await browser.call('POST', '/api/v1/session', { email: 'ada@example.com', password: PASSWORD });
	await setUpTotp(browser);
	await firstStep(openCookieClient(server), 'ada@example.com');
	await inProcess(dataDir, 'users', 'reset-totp', 'ada@example.com');
	assert.equal((await browser.call('GET', '/api/v1/session')).status, 401, 'the sessions end');
	const alone = await server.call('POST', '/api/v1/session', { email: 'ada@example.com', password: PASSWORD });
	assert.equal(alone.status, 201);

	const list = await inProcess(dataDir, 'users', 'list', '--workspace', workspace);
	assert.match(list, /ada@example\.com +owner +ws_\w+ +set +ada/);
	assert.match(list, /bo@example\.com +member +ws_\w+ +not set +Bo/);
	assert.ok(!list.includes('owner@localhost'));
	assert.match(await inProcess(dataDir, 'users', 'list'), /owner@localhost/);
	assert.match(await inProcess(dataDir, 'workspaces', 'list'), new RegExp(`${workspace} +free +Hollowbrook`));
});

/** Runs a command in this process, which is faster; gives what it answered, or rejects as it failed. */
async function inProcess(dataDir: string, ...args: string[]): Promise<string> {
	const command = findCommand(commands, args);
	assert.ok(command, args.join(' '));
	const printed: string[] = [];
	const settings = () => loadConfig({ env: { PARLEY_DATA_DIR: dataDir }, file: join(dataDir, 'no-such-file.json') });
	await runCommand(command, args, { settings, print: (line) => void printed.push(line), printInfo() {} });
	return printed.join('\n');
}

test('a user of several workspaces must be named with the workspace', async (t) => {
	const dataDir = await temporaryFolder(t);
	{
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		await store.commit({ write: insertWorkspace(newId('workspace'), 'Acme', Date.now()) });
	}
	const other = await inProcess(dataDir, 'workspaces', 'create', 'Other');
	await inProcess(dataDir, 'users', 'create', 'ada@example.com');
	await inProcess(dataDir, 'users', 'create', 'ada@example.com', '--workspace', other);
	await assert.rejects(inProcess(dataDir, 'users', 'reset-password', 'ada@example.com'), {
		name: 'UsageError',
		message: new RegExp(`^ada@example.com is a user of several workspaces.*${other}\\.$`),
	});
	const link = await inProcess(dataDir, 'users', 'reset-password', 'ada@example.com', '--workspace', other);
	assert.match(link, /^http:\/\/127\.0\.0\.1:8080\/set-password#[\w-]{43}$/);
	await assert.rejects(inProcess(dataDir, 'users', 'create', 'ADA@example.com'), {
		code: 'invalid_request',
		message: 'A user of this workspace has this email already.',
	});
});

test('a mistyped command exits with one sentence and code 2, a missing resource with code 1', async (t) => {
	const dataDir = await temporaryFolder(t);
	for (const [args, code, sentence] of [
		['key list', 2, /there is no command "key list"/],
		['serve now', 2, /there is no command "serve now"/],
		['serve \u001b[31m\u202e', 2, /there is no command "serve \\u001b\[31m\\u202e"/],
		['keys revoke', 2, /^parley: Usage: parley keys revoke ID\n$/],
		['users create ada', 2, /^parley: "ada" is not an email address\.\n$/],
		[
			'keys revoke key_1',
			1,
			/^parley: There is no workspace in .* yet: start the server once, or set PARLEY_DATA_DIR\.\n$/,
		],
	] as const) {
		const ran = await parley(dataDir, ...args.split(' '));
		assert.deepEqual([ran.code, ran.out], [code, ''], args);
		assert.match(ran.err, sentence);
		assert.doesNotMatch(ran.err, /\n {4}at /, 'no stack');
	}
	assert.deepEqual(await readdir(dataDir), [], 'no database is created by a command that needs a workspace');
});

test('a command validates its arguments before it changes anything', async () => {
	const nowhere = join(tmpdir(), 'parley-no-such-folder');
	const wrong: Array<[args: string, sentence: RegExp]> = [
		['keys list extra', /^Usage: parley keys list \[--workspace ID\]$/],
		['keys create --nam x', /^There is no option --nam\.\nUsage: parley keys create/],
		['keys list -x', /^There is no option -x\.\nUsage: parley keys list/],
		['keys create --name', /--name(.|\n)*Usage: parley keys create/],
		['keys create --scope everything', /A scope is one of \*, assistants:read/],
		['keys create --expires yesterday', /--expires takes a date in the future/],
		['keys create --expires 2020-01-01', /--expires takes a date in the future/],
		['keys create --expires 2030-13-45', /--expires takes a date in the future/],
		['keys create --expires 0d', /--expires takes a date in the future/],
		[`keys create --name ${'x'.repeat(201)}`, /A name is one line of 1 to 200 characters/],
		['keys create --name \u0007', /A name is one line/],
		['users create ada@example.com --name \u202f', /A name is one line/],
		['workspaces create \u0000', /A name is one line/],
		['users create ada@example.com --role boss', /A role is one of owner, admin, member, agent, viewer/],
		['workspaces set-plan ws_1 gold', /A plan is one of unlimited, free, pro/],
	];
	for (const [args, message] of wrong) {
		await assert.rejects(inProcess(nowhere, ...args.split(' ')), { name: 'UsageError', message }, args);
	}
	assert.equal(existsSync(nowhere), false);
});

test('a command about a missing resource says how to list the existing ones', async (t) => {
	const dataDir = await temporaryFolder(t);
	{
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		await store.commit({ write: insertWorkspace(newId('workspace'), 'Acme', Date.now()) });
	}
	const missing: Array<[args: string, message: RegExp]> = [
		['keys revoke key_none', /^There is no API key key_none\. "parley keys list" lists/],
		['keys create --workspace ws_none', /^There is no workspace ws_none\. "parley workspaces list" lists/],
		['users reset-password no@example.com', /^There is no user no@example.com\. "parley users list" lists/],
		['workspaces set-plan ws_none pro', /^There is no workspace ws_none\./],
	];
	for (const [args, message] of missing) {
		await assert.rejects(inProcess(dataDir, ...args.split(' ')), { code: 'not_found', message }, args);
	}
	const key = await inProcess(
		dataDir,
		'keys',
		'create',
		'--expires',
		'2999-12-31',
		'--scope',
		'tools:read',
		'--scope',
		'tools:write',
	);
	assert.ok(isApiKey(key));
	assert.match(await inProcess(dataDir, 'keys', 'list'), /2999-12-31T00:00:00\.000Z +tools:read,tools:write/);
});

test('the help lists every command, and each command shows its usage', async (t) => {
	const dataDir = await temporaryFolder(t);
	const help = await answer(dataDir, '--help');
	const commands = [
		'serve',
		'keys create',
		'keys list',
		'keys revoke ID',
		'keys generate',
		'users create EMAIL',
		'users list',
		'users reset-password EMAIL',
		'users reset-totp EMAIL',
		'workspaces create NAME',
		'workspaces list',
		'workspaces set-plan ID PLAN',
		'secrets reset [--yes]',
		'rebuild',
		'database repair',
		'doctor',
		'healthcheck',
	];
	for (const command of commands) assert.ok(help.includes(`\n  ${command}`), command);
	assert.match(await answer(dataDir, 'users', 'create', '--help'), /^parley users create EMAIL \[--name NAME\]/);
	assert.match(await answer(dataDir, '--version'), /^\d+\.\d+\.\d+$/);
	assert.ok(isApiKey(await answer(dataDir, 'keys', 'generate')));
});

test('the first start prints a link with which the owner sets a password, and the next start does not', async (t) => {
	const dataDir = await temporaryFolder(t);
	{
		await using server = await startServer({ dataDir, env: { PARLEY_PRINT_KEY: '1' } });
		const token = new RegExp(`^Password: +${server.url}/set-password#([\\w-]{43})$`, 'm').exec(server.output())?.[1];
		assert.ok(token, server.output());
		const set = await server.call('POST', '/api/v1/session/password', { token, password: PASSWORD });
		assert.deepEqual([set.status, set.body.user.email], [200, 'owner@localhost']);
	}
	await using again = await startServer({ dataDir });
	assert.doesNotMatch(again.output(), /Password:|set-password/);
});

test('a folder of an earlier Parley without users starts, and a command makes its first owner', async (t) => {
	const dataDir = await temporaryFolder(t);
	const key = createApiKey();
	const workspace = newId('workspace');
	{
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		const now = Date.now();
		const write = insertWorkspace(workspace, 'Old', now);
		await store.commit({ write: [...write, insertKey(workspace, key, { name: 'First key', scopes: ['*'], now })] });
	}
	await using server = await startServer({ dataDir, key });
	assert.doesNotMatch(server.output(), /set-password#/);
	assert.match(server.output(), /Password: {2}no owner has one/);
	assert.deepEqual((await server.call('GET', '/api/v1/users')).body.data, []);
	const link = await inProcess(dataDir, 'users', 'create', 'ada@example.com');
	await server.call('POST', '/api/v1/session/password', { token: link.split('#')[1], password: PASSWORD });
	const signedIn = await server.call('POST', '/api/v1/session', { email: 'ada@example.com', password: PASSWORD });
	assert.deepEqual([signedIn.body.user.role, signedIn.body.workspace.id], ['owner', workspace]);
});

test('secrets encrypted with another key stop the start with a sentence', async (t) => {
	const dataDir = await temporaryFolder(t);
	const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');
	{
		await using server = await startServer({ dataDir, env: { PARLEY_SECRET_KEY: keyOf(1) } });
		const endpoint = { url: 'https://hooks.example.com/parley', events: ['*'] };
		assert.equal((await server.call('POST', '/api/v1/webhooks', endpoint)).status, 201);
		await server.stop();
	}
	assert.ok(!(await readdir(dataDir)).includes('secret.key'));
	for (const [given, sentence] of [
		[keyOf(2), /PARLEY_SECRET_KEY is not the key with which the secrets in/],
		[undefined, /set it as PARLEY_SECRET_KEY/],
		['short', /PARLEY_SECRET_KEY is not valid/],
	] as const) {
		await assert.rejects(startServer({ dataDir, env: { PARLEY_SECRET_KEY: given } }), sentence);
	}
	const hex = Buffer.alloc(32, 1).toString('hex');
	await using server = await startServer({ dataDir, env: { PARLEY_SECRET_KEY: hex } });
	assert.equal(server.output().includes(hex), false);
});
