import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { httpServer } from '../net/servers.ts';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'correct horse battery staple';
const manual = new URL('../../data/samples/brook-kettle-manual.pdf', import.meta.url);
/** Deliveries go to this machine. */
const env = { PARLEY_ALLOW_PRIVATE_NETWORK: '1' };

test('a backup of a running server, restored elsewhere, has everything and works', async (t) => {
	await using receiver = await startReceiver();
	await using server = await startServer({ env });
	const used = await useServer(server, receiver.url);
	const before = await readAll(server, used);
	const file = join(await temporaryFolder(t), 'backup.tar');
	const made = await runProgram(server.dataDir, ['backup', file]);
	assert.deepEqual([made.code, made.out], [0, `${file}\n`], made.err);
	assert.match(made.err, /with 1 conversations, 2 documents and 2 files\. The secret key is not in it\.$/m);
	const verified = await runProgram(server.dataDir, ['verify', file]);
	assert.equal(verified.code, 0, verified.err);
	// Not in the backup.
	await server.call('POST', '/api/v1/assistants', { name: 'Later' });

	const dataDir = join(await temporaryFolder(t), 'data');
	const restored = await runProgram(dataDir, ['restore', file]);
	assert.equal(restored.code, 0, restored.err);
	assert.match(restored.err, /^The secret key is not in backups\. Put secret\.key of the former server into /);
	const withoutKey = await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0' });
	assert.equal(withoutKey.code, 1, 'something was encrypted with the key');
	await copyFile(join(server.dataDir, 'secret.key'), join(dataDir, 'secret.key'));
	await server.stop();

	await using second = await startServer({ dataDir, key: server.key, env });
	assert.deepEqual(await readAll(second, used), before);
	const signedIn = await second.call(
		'POST',
		'/api/v1/session',
		{ email: 'owner@localhost', password: PASSWORD },
		{ origin: second.url },
	);
	assert.equal(signedIn.status, 201, JSON.stringify(signedIn.body));
	// A session of the former server is valid, too.
	const session = await second.call('GET', '/api/v1/session', undefined, { authorization: '', cookie: used.cookie });
	assert.equal(session.body.user.email, 'owner@localhost');
	const conversation = { conversation_id: used.conversation, deployment_id: used.deployment, content: 'And E3?' };
	const received = receiver.bodies.length;
	assert.equal((await second.call('POST', '/api/v1/messages', conversation)).status, 201);
	const delivery = await until('an event is delivered', () => receiver.bodies[received]);
	new Webhook(used.signingSecret).verify(delivery.body, delivery.headers);
	const doctor = await runProgram(dataDir, ['doctor']);
	assert.equal(doctor.code, 0, doctor.out);
});

test('a backup contains no secret key and no first key, and only its owner can read it', async (t) => {
	await using server = await startServer();
	const outer = await temporaryFolder(t);
	const file = await runProgram(server.dataDir, ['backup', join(outer, 'usb')]);
	assert.equal(file.code, 0);
	assert.match(
		file.err,
		/^.*usb is no directory: it becomes the file of the backup\. For a new directory, write .*\/usb\/\.$/m,
	);
	const folder = join(outer, 'not', 'there', 'yet');
	assert.equal((await runProgram(server.dataDir, ['backup', `${folder}/`])).code, 0);
	const [name = '', ...others] = await readdir(folder);
	assert.match(name, /^parley-[0-9a-f]{8}-\d{8}T\d{6}\.\d{3}Z\.tar$/);
	assert.deepEqual(others, []);
	const bytes = await readFile(join(folder, name));
	const secret = (await readFile(join(server.dataDir, 'secret.key'), 'utf8')).trim();
	const decoded = Buffer.from(secret, 'base64');
	for (const text of [secret, decoded, server.key, 'set-password#']) assert.ok(!bytes.includes(text));
});

test('a restore refuses a folder with data, a running server and a damaged backup, and changes nothing', async (t) => {
	await using server = await startServer();
	const folder = await temporaryFolder(t);
	const file = join(folder, 'backup.tar');
	assert.equal((await runProgram(server.dataDir, ['backup', file])).code, 0);
	const refusal = async (dataDir: string, archive: string, sentence: RegExp) => {
		const { code, out, err } = await runProgram(dataDir, ['restore', archive]);
		assert.deepEqual([code, out], [1, ''], err);
		assert.match(err, sentence);
		assert.equal(err.trimEnd().split('\n').length, 1, err);
	};
	await refusal(server.dataDir, file, /^parley: Another Parley is running on /);
	await server.stop();
	const files = await readdir(server.dataDir);
	await refusal(server.dataDir, file, /is not empty \(it has \S+\)\. A restore never replaces data/);
	assert.deepEqual(await readdir(server.dataDir), files);
	const notes = join(folder, 'notes');
	await mkdir(notes);
	await writeFile(join(notes, 'notes.txt'), 'mine');
	await refusal(notes, file, /is not empty \(it has notes\.txt\)/);

	const bytes = await readFile(file);
	bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
	const damaged = join(folder, 'damaged.tar');
	await writeFile(damaged, bytes);
	const empty = join(folder, 'empty');
	await refusal(
		empty,
		damaged,
		/damaged\.tar is no intact backup of Parley: the checksum of the database is wrong\.$/m,
	);
	assert.deepEqual(await readdir(empty), ['parley.lock']);
	const verified = await runProgram(empty, ['verify', damaged]);
	assert.deepEqual([verified.code, verified.out], [1, '']);
	await refusal(empty, join(folder, 'none.tar'), /none\.tar cannot be read/);
	assert.equal((await runProgram(empty, ['restore', file])).code, 0, 'it is still empty');
});

test('a backup refuses an existing file, a folder without a database and a damaged database', async (t) => {
	await using server = await startServer();
	await server.stop();
	const folder = await temporaryFolder(t);
	const refusal = async (dataDir: string, args: string[], sentence: RegExp, expected = 1) => {
		const { code, out, err } = await runProgram(dataDir, ['backup', ...args]);
		assert.deepEqual([code, out], [expected, ''], err);
		assert.match(err, sentence);
	};
	const existing = join(folder, 'existing.tar');
	await writeFile(existing, 'mine');
	await refusal(server.dataDir, [existing], /existing\.tar exists already\. A backup never replaces a file\.$/m);
	assert.equal(await readFile(existing, 'utf8'), 'mine');
	await refusal(join(folder, 'mistyped'), [join(folder, 'a.tar')], /There is no database in .*mistyped/);
	await refusal(
		server.dataDir,
		[join(folder, 'none', 'a.tar')],
		/none cannot be written to: the folder does not exist/,
	);
	await refusal(server.dataDir, [folder, '--keep', '0'], /--keep is a number from 1 to/, 2);
	await refusal(
		server.dataDir,
		[existing, '--keep', '1'],
		/--keep is for a directory, and .*existing\.tar is a file\.$/m,
		2,
	);
	const missing = join(folder, 'usb');
	const hint = /--keep is for a directory, and .*usb does not exist\. For a new directory, write .*\/usb\/\.$/m;
	await refusal(server.dataDir, [missing, '--keep', '1'], hint, 2);
	await refusal(
		server.dataDir,
		[folder, '--every', '6h'],
		/^parley: There is no option --every\.\nUsage: parley backup /,
		2,
	);
	await refusal(server.dataDir, [], /^parley: Usage: parley backup FILE\|DIRECTORY \[--keep N\]/, 2);

	const database = join(server.dataDir, 'parley.db');
	const bytes = await readFile(database);
	await writeFile(database, bytes.fill(0x5a, 8_192, 32_768));
	await refusal(server.dataDir, [join(folder, 'a.tar')], /The database in .* is damaged: .*No backup was made\.\n$/s);
	await writeFile(database, 'This is a shopping list.'.repeat(500));
	await refusal(server.dataDir, [join(folder, 'a.tar')], /The database in .* is damaged: .*No backup was made\.\n$/s);
	assert.deepEqual(await readdir(folder), ['existing.tar'], 'nothing unfinished stays');
});

test('a document whose file is missing or damaged prevents a backup, which names it', async (t) => {
	await using server = await startServer();
	const { body: base } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Manuals' });
	const text = { source_type: 'text', title: 'Note', content: 'The kettle is blue.' };
	const { body: document } = await server.call('POST', `/api/v1/knowledge-bases/${base.id}/documents`, text);
	const [shard = ''] = (await readdir(join(server.dataDir, 'blobs'))).filter((name) => name.length === 2);
	const [hash = ''] = await readdir(join(server.dataDir, 'blobs', shard));
	const path = join(server.dataDir, 'blobs', shard, hash);
	const folder = await temporaryFolder(t);
	const bytes = await readFile(path);
	for (const [damage, sentence] of [
		[bytes.subarray(1), /has \d+ bytes instead of \d+/],
		[Buffer.from(bytes).fill('x'), /is damaged/],
	] as const) {
		await writeFile(path, damage);
		const { code, err } = await runProgram(server.dataDir, ['backup', `${folder}/`]);
		assert.equal(code, 1);
		assert.match(err, sentence);
		assert.ok(err.includes(document.id) && err.includes(hash), err);
	}
	await writeFile(path, bytes);
	assert.equal((await runProgram(server.dataDir, ['backup', `${folder}/`])).code, 0);
});

test('a server makes backups by its settings, and a restart makes none before it is due', async (t) => {
	const folder = join(await temporaryFolder(t), 'backups');
	const scheduled = { PARLEY_BACKUP_DIR: folder, PARLEY_BACKUP_EVERY: '1h', PARLEY_LOG_LEVEL: 'info' };
	const dataDir = await temporaryFolder(t);
	const lists = () => readdir(folder).catch((): string[] => []);
	const first = await startServer({ dataDir, env: scheduled });
	await until('a backup is logged', () => first.output().includes('a backup was made'));
	const [name = ''] = await lists();
	assert.equal((await runProgram(dataDir, ['verify', join(folder, name)])).code, 0);
	await first.stop();
	await using second = await startServer({ dataDir, key: first.key, env: scheduled });
	assert.equal((await second.call('POST', '/api/v1/assistants', { name: 'Guide' })).status, 201);
	await second.stop();
	assert.deepEqual(await lists(), [name]);
});

/** A receiver of webhooks. */
async function startReceiver() {
	const bodies: Array<{ body: string; headers: Record<string, string> }> = [];
	const server = await httpServer(async (request, response) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		bodies.push({ body: Buffer.concat(chunks).toString(), headers: request.headers as Record<string, string> });
		response.writeHead(204).end();
	});
	return { url: server.origin, bodies, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

type Used = Awaited<ReturnType<typeof useServer>>;

/** Makes something of everything that a backup must keep. */
async function useServer(server: ServerProcess, receiverUrl: string) {
	const make = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
		const answer = await server.call('POST', path, body, headers);
		assert.ok(answer.status === 201 || answer.status === 200, `${path} ${JSON.stringify(answer.body)}`);
		return answer;
	};
	const base = (await make('/api/v1/knowledge-bases', { name: 'Manuals' })).body.id;
	const documents = `/api/v1/knowledge-bases/${base}/documents`;
	const form = new FormData();
	form.set('file', new Blob([await readFile(manual)]), 'manual.pdf');
	await make(documents, form);
	await make(documents, { source_type: 'text', title: 'Note', content: 'Shelf 7 holds blue kettles.' });
	const assistant = (await make('/api/v1/assistants', { name: 'Guide' })).body.id;
	await make(`/api/v1/assistants/${assistant}/knowledge-bases`, { knowledge_base_id: base });
	const deployment = (await make('/api/v1/deployments', { assistant_id: assistant })).body.id;
	await until('all is indexed', async () => {
		const { body } = await server.call('GET', `/api/v1/knowledge-bases/${base}/status`);
		return body.status === 'ready';
	});
	const webhook = (await make('/api/v1/webhooks', { url: receiverUrl, events: ['message.created'] })).body;
	const asked = { deployment_id: deployment, content: 'What does error code E2 mean?' };
	const conversation = (await make('/api/v1/messages', asked)).body.conversation_id;
	const notice = await readFile(join(server.dataDir, 'first-start.txt'), 'utf8');
	const token = /set-password#([\w-]+)/.exec(notice)?.[1];
	const origin = { origin: server.url };
	await make('/api/v1/session/password', { token, password: PASSWORD }, origin);
	const session = await make('/api/v1/session', { email: 'owner@localhost', password: PASSWORD }, origin);
	const cookie = session.headers.getSetCookie().find((line) => line.startsWith('parley_session=')) ?? '';
	return {
		...{ base, documents, assistant, deployment, conversation },
		signingSecret: webhook.signing_secret as string,
		cookie: cookie.split(';')[0] as string,
	};
}

/** What the API says about it. */
async function readAll(server: ServerProcess, { base, documents, conversation }: Used) {
	const read = async (path: string) => {
		const { status, body } = await server.call('GET', path);
		assert.equal(status, 200, path);
		return body;
	};
	const list = await read(documents);
	const contents = await Promise.all(
		list.data.map(async ({ id }: { id: string }) => {
			const headers = { authorization: `Bearer ${server.key}` };
			const response = await fetch(`${server.url}${documents}/${id}/content`, { headers });
			return [response.status, Buffer.from(await response.arrayBuffer()).toString('base64')];
		}),
	);
	const query = { query: 'What does error code E2 mean?' };
	const found = await server.call('POST', `/api/v1/knowledge-bases/${base}/search`, query);
	assert.ok(found.body.data.length > 0);
	return {
		contents,
		list,
		found: found.body.data,
		messages: await read(`/api/v1/conversations/${conversation}/messages`),
		assistants: await read('/api/v1/assistants'),
		deployments: await read('/api/v1/deployments'),
		webhooks: await read('/api/v1/webhooks'),
		users: (await read('/api/v1/users')).data.map(({ id, email }: Record<string, string>) => ({ id, email })),
	};
}
