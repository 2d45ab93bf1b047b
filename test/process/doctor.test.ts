import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, open, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { backupSeries, inspectDatabase } from '../../src/store/index.ts';
import { certificateFiles } from '../support/certificate.ts';
import { ModelServer } from '../support/model-server.ts';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { startServer } from '../support/server-process.ts';
import { writeThesaurus } from '../thesauri/write-thesaurus.ts';

const KEY = 'gsk_doctor_0123456789';

/** Runs `parley doctor` of the built server. */
const doctor = (dataDir: string, env?: Record<string, string>) => runProgram(dataDir, ['doctor'], env);

/** A data folder that a server has made. */
async function usedFolder(t: TestContext): Promise<string> {
	const dataDir = await temporaryFolder(t);
	await using server = await startServer({ dataDir });
	assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
	return dataDir;
}

test('the doctor passes beside a running server and probes each provider', async (t) => {
	await using models = await ModelServer.start();
	await using server = await startServer();
	const entry = { type: 'openai-compatible', base_url: models.baseUrl };
	const providers = [
		{ ...entry, id: 'listed', models: [{ name: 'small' }], api_key_env: 'DOCTOR_KEY' },
		{ ...entry, id: 'open' },
		{ id: 'claude', type: 'anthropic', base_url: models.baseUrl, api_key_env: 'DOCTOR_KEY', models: [{ name: 'c' }] },
	];
	// The packages of this project; the single executable has none.
	const recognition = { PARLEY_OCR: 'eng', PARLEY_OCR_DIR: fileURLToPath(new URL('../..', import.meta.url)) };
	const mythes = await temporaryFolder(t);
	await writeThesaurus(mythes, 'th_de_DE_v2', { garantie: ['-|Gewährleistung'], preis: ['-|Kosten'] });
	const thesauri = { PARLEY_THESAURI: mythes };
	const env = { PARLEY_PROVIDERS: JSON.stringify(providers), DOCTOR_KEY: KEY, ...recognition, ...thesauri };
	const { code, out, err } = await doctor(server.dataDir, env);
	assert.deepEqual([code, err], [0, ''], out);
	const lines = out.trimEnd().split('\n');
	const expected = [
		/^ok {2}database +[\d.]+ (KiB|MiB) in .+ are sound\.$/,
		/^ok {2}schema +Version \d+, the current one\.$/,
		/^ok {2}files +Uploaded: 0, with 0 bytes\. Log of the database: [\d.]+ (bytes|KiB|MiB)\.$/,
		/^ok {2}secret key +It decrypts everything that is encrypted\.$/,
		/^ok {2}disk +[\d.]+ (MiB|GiB|TiB) are free\.$/,
		/^ok {2}default model +It is builtin\/extractive\.$/,
		/^ok {2}text recognition +tesseract\.js 7\.\d+\.\d+ with eng, in .+node_modules\.$/,
		/^ok {2}thesauri +2 words of de, in .+th_de_DE_v2\.idx\.$/,
		/^ok {2}provider listed +The model small began to answer after \d+ ms\.$/,
		/^ok {2}provider open +The provider answers at http:.*\/v1, within \d+ ms\.$/,
		/^ok {2}provider claude +The model c began to answer after \d+ ms\.$/,
	];
	assert.equal(lines.length, expected.length, out);
	for (const [at, pattern] of expected.entries()) assert.match(lines[at] ?? '', pattern);
	assert.ok(!out.includes(KEY));
	assert.equal((await server.call('GET', '/api/v1/workspace')).status, 200, 'the server goes on');
});

test('the doctor names the failing provider and the reason, exits with 1, and shows no key', async (t) => {
	await using models = await ModelServer.start();
	models.setDefault([{ status: 401, body: JSON.stringify({ error: { message: `Wrong key:\u001b[31m ${KEY}` } }) }]);
	const gone = await ModelServer.start();
	await gone[Symbol.asyncDispose]();
	const entry = { type: 'openai-compatible', api_key_env: 'DOCTOR_KEY', models: [{ name: 'small' }] };
	const providers = [
		{ ...entry, id: 'strict', base_url: models.baseUrl },
		{ ...entry, id: 'gone', base_url: gone.baseUrl },
		{ ...entry, id: 'elsewhere', base_url: `${models.origin}/v2`, models: undefined },
	];
	const env = { PARLEY_PROVIDERS: JSON.stringify(providers), DOCTOR_KEY: KEY, PARLEY_DEFAULT_MODEL: 'strict/large' };
	const { code, out, err } = await doctor(await usedFolder(t), env);
	assert.equal(code, 1, out);
	assert.equal(err, 'parley: 4 of 9 checks failed.\n');
	assert.match(out, /^FAILED {2}default model +The model 'strict\/large' is not configured on this server\./m);
	assert.match(out, /^FAILED {2}provider strict +The model provider did not accept this server's key\. \(Wrong key: /m);
	assert.match(
		out,
		/^FAILED {2}provider gone +The model provider could not be reached\. \(Could not connect to 127\.0\.0\.1:\d+\.\) The test asked the model small\. Start the provider, or correct base_url in PARLEY_PROVIDERS\.$/m,
	);
	assert.match(
		out,
		/^FAILED {2}provider elsewhere +There is nothing at .*\/v2\/models\. Correct base_url and the name of the model in PARLEY_PROVIDERS\.$/m,
	);
	assert.ok(!out.includes(KEY) && !out.includes('\u001b'), out);
});

test('the doctor fails where the server should make backups and the newest is too old', async (t) => {
	const dataDir = await usedFolder(t);
	const backups = await temporaryFolder(t);
	const env = { PARLEY_BACKUP_DIR: backups, PARLEY_BACKUP_EVERY: '1d' };
	const found = async (expected: RegExp) => assert.match((await doctor(dataDir, env)).out, expected);
	await found(/^FAILED {2}backups +There is none in .*\. Look for 'a backup has failed' in the server's log/m);
	await writeFile(join(backups, `parley-${backupSeries(dataDir)}-20260101T120000.000Z.tar`), '');
	await found(/^FAILED {2}backups +1 in .*, the newest of 2026-01-01T12:00:00\.000Z, which is longer ago than twice/m);
	assert.equal((await runProgram(dataDir, ['backup', backups])).code, 0);
	await found(/^ok {2}backups +2 in .*, the newest of \d{4}-[\d-]+T[\d:.]+Z\.$/m);
});

test('the doctor fails from 14 days before the end of the certificate, and says what to do', async (t) => {
	const dataDir = await usedFolder(t);
	for (const [days, expected] of [
		[20, /^ok {2}certificate +It is for chat\.example\.com, .*until [\d-]+T[\d:.]+Z\.$/m],
		[10, /^FAILED {2}certificate +It is for .*Z\. That is in less than 14 days\. Renew it, then send SIGHUP/m],
	] as const) {
		const validTo = new Date(Date.now() + days * 86_400_000);
		const { certificate, key } = await certificateFiles(t, { name: 'chat.example.com', validTo });
		const { out } = await doctor(dataDir, { PARLEY_TLS_CERT: certificate, PARLEY_TLS_KEY: key });
		assert.match(out, expected);
	}
});

test('the doctor counts the log of the database with it', async (t) => {
	const dataDir = await temporaryFolder(t);
	await using server = await startServer({ dataDir });
	const content = 'The shop opens at nine. '.repeat(2_000);
	for (let at = 0; at < 5; at++) {
		const { body } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Manuals' });
		const path = `/api/v1/knowledge-bases/${body.id}/documents`;
		await server.call('POST', path, { source_type: 'text', title: 'Hours', content });
	}
	const sizes = await Promise.all(['', '-wal'].map(async (end) => (await stat(join(dataDir, `parley.db${end}`))).size));
	const report = inspectDatabase(dataDir);
	const [database = 0, log = 0] = sizes;
	assert.ok(log > 0 && (report?.bytes ?? 0) >= database + log, `${report?.bytes} of ${sizes}`);
	await server.stop();
});

test('the doctor counts uploaded files, finds missing ones, and names those of no document', async (t) => {
	const dataDir = await temporaryFolder(t);
	{
		await using server = await startServer({ dataDir });
		const base = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Manuals' });
		const form = new FormData();
		form.set('file', new File(['The shop opens at nine.'], 'hours.txt'));
		const path = `/api/v1/knowledge-bases/${base.body.id}/documents`;
		assert.equal((await server.call('POST', path, form)).status, 201);
		await server.stop();
	}
	const hash = createHash('sha256').update('The shop opens at nine.').digest('hex');
	const blob = (name: string) => join(dataDir, 'blobs', name.slice(0, 2), name);
	const orphan = 'ab'.repeat(32);
	await mkdir(join(dataDir, 'blobs', 'ab'), { recursive: true });
	await writeFile(blob(orphan), 'of no document');
	const sound = await doctor(dataDir);
	assert.equal(sound.code, 0, sound.out);
	assert.match(
		sound.out,
		/^ok {2}files +Uploaded: 1, with 23 bytes\. .* Of no document: 1, with 14 bytes\. The server removes them at its next start\.$/m,
	);
	await rm(blob(hash));
	const { code, out } = await doctor(dataDir);
	assert.equal(code, 1, out);
	assert.match(out, new RegExp(`^FAILED {2}files +Uploaded: 0, .* Missing: 1, for example ${hash}\\. Copy them`, 'm'));
});

test('the doctor accepts a missing secret key where nothing is encrypted with it, as the start does', async (t) => {
	const dataDir = await usedFolder(t);
	const keyLine = async () => (await doctor(dataDir)).out.split('\n').find((line) => line.includes('secret key'));
	await rm(join(dataDir, 'secret.key'));
	assert.match((await keyLine()) ?? '', /^ok +secret key +Nothing is encrypted .* the next start uses a new key\.$/);
	const other = Buffer.alloc(32, 9).toString('base64');
	await writeFile(join(dataDir, 'secret.key'), other, { mode: 0o600 });
	assert.match((await keyLine()) ?? '', /^ok +secret key +.* the next start uses the key in secret\.key\.$/);
	await using server = await startServer({ dataDir });
	assert.equal((await server.call('GET', '/readyz')).status, 200);
});

test('the doctor finds a damaged database', async (t) => {
	const dataDir = await usedFolder(t);
	const file = await open(join(dataDir, 'parley.db'), 'r+');
	const { size } = await file.stat();
	// Every page but the first, which holds the schema.
	await file.write(Buffer.alloc(size - 8_192, 0x5a), 0, size - 8_192, 8_192);
	await file.close();
	const { code, out } = await doctor(dataDir);
	assert.equal(code, 1, out);
	assert.match(out, /^FAILED {2}database +.* is damaged: .*\. Stop the server\. Restore a backup\.$/m);
});

test('the doctor detects a file that is no database, a newer schema, and a missing database', async (t) => {
	const dataDir = await usedFolder(t);
	const db = new Database(join(dataDir, 'parley.db'));
	db.pragma('user_version = 999');
	db.close();
	const newer = await doctor(dataDir);
	assert.equal(newer.code, 1);
	assert.match(newer.out, /^FAILED {2}schema +Version 999 is newer than this Parley/m);
	const file = await open(join(dataDir, 'parley.db'), 'w');
	await file.write('This is a shopping list.'.repeat(500));
	await file.close();
	const text = await doctor(dataDir);
	assert.equal(text.code, 1);
	assert.match(
		text.out,
		/^FAILED {2}database +.* is damaged: file is not a database\. Stop the server\. Restore a backup\.$/m,
	);
	const nowhere = await doctor(join(dataDir, 'mistyped'));
	assert.equal(nowhere.code, 1);
	assert.match(
		nowhere.out,
		/^FAILED {2}database +There is none in .*mistyped: start the server once, or set PARLEY_DATA_DIR\.$/m,
	);
});

test('the doctor requests a vector from the embedder and reports why it fails', async (t) => {
	await using models = await ModelServer.start();
	const dataDir = await usedFolder(t);
	const entry = { id: 'local', type: 'openai-compatible', base_url: models.baseUrl };
	const env = { PARLEY_PROVIDERS: JSON.stringify([entry]), PARLEY_EMBEDDER: 'local/embed' };
	const well = await doctor(dataDir, env);
	assert.equal(well.code, 0, well.out);
	assert.match(well.out, /^ok {2}embedder +local\/embed gives vectors of 64 values, within \d+ ms\.$/m);
	models.embeddings.setDefault({ status: 404, body: '{"error":{"message":"model embed not found"}}' });
	const ill = await doctor(dataDir, env);
	assert.equal(ill.code, 1);
	assert.match(
		ill.out,
		/^FAILED {2}embedder +The model provider does not know the model\. \(.*embed not found.*\) The test asked local\/embed\. Correct base_url and the name of the model in PARLEY_PROVIDERS\.$/m,
	);
});
