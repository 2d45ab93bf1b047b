import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { timestamp } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { backupSeries, openSqliteStore } from '../../src/store/index.ts';
import { document, webhook } from '../store/samples.ts';
import { certificateFiles } from '../support/certificate.ts';
import { ModelServer } from '../support/model-server.ts';
import { mountSmallDisk, skipWithoutSmallDisk } from '../support/small-disk.ts';
import { runInProcess } from './run-in-process.ts';

const DAY_MS = 86_400_000;
const SKIP_DISK = await skipWithoutSmallDisk();
const DAMAGED = 'is damaged: .+\\. Stop the server\\. Restore a backup\\.';

async function emptyFolder(t: TestContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-doctor-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Makes the database of a data folder. */
async function fill(dataDir: string): Promise<string> {
	await using _store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	return dataDir;
}

const usedFolder = async (t: TestContext) => fill(await emptyFolder(t));

/** What the doctor says of the subject, after its name; checks that it found a problem. */
async function failure(dataDir: string, subject: string, env: Record<string, string> = {}): Promise<string> {
	const { out, problem } = await runInProcess({ PARLEY_DATA_DIR: dataDir, ...env }, 'doctor');
	assert.match(problem ?? '', /^\d+ of \d+ checks failed\.$/, out.join('\n'));
	const start = new RegExp(`^FAILED {2}${subject} +`);
	const line = out.find((one) => start.test(one)) ?? assert.fail(`${subject} passes: ${out.join('\n')}`);
	return line.replace(start, '');
}

suite('each finding of the doctor ends with what to do', () => {
	test('a damaged database', async (t) => {
		const dataDir = await usedFolder(t);
		const path = join(dataDir, 'parley.db');
		const db = new Database(path);
		db.exec('DROP TABLE canned_replies');
		db.close();
		assert.match(
			await failure(dataDir, 'database'),
			/^.+ is damaged: the table canned_replies is missing\. Stop the server\. Restore a backup\.$/,
		);
		const file = await open(path, 'r+');
		const { size } = await file.stat();
		await file.write(Buffer.alloc(8_192, 0x5a), 0, 8_192, size - 8_192);
		await file.close();
		assert.match(await failure(dataDir, 'database'), new RegExp(`^.+ ${DAMAGED}$`));
		await writeFile(path, 'This is a shopping list.'.repeat(500));
		assert.match(await failure(dataDir, 'database'), new RegExp(`^.+ ${DAMAGED}$`));
	});

	test('a lost database, and a folder without one', async (t) => {
		const dataDir = await usedFolder(t);
		await mkdir(join(dataDir, 'blobs', 'incoming'), { recursive: true });
		await writeFile(join(dataDir, 'parley.db'), '');
		assert.match(
			await failure(dataDir, 'database'),
			/ is damaged: it is empty, .+\. Stop the server\. Bring back parley\.db and parley\.db-wal, or restore a backup\.$/,
		);
		assert.match(await failure(await emptyFolder(t), 'database'), / start the server once, or set PARLEY_DATA_DIR\.$/);
	});

	test('a schema of a newer version', async (t) => {
		const dataDir = await usedFolder(t);
		const db = new Database(join(dataDir, 'parley.db'));
		db.pragma('user_version = 999');
		db.close();
		assert.match(await failure(dataDir, 'schema'), /^Version 999 is newer .+\. Use the newer Parley\.$/);
	});

	test('missing files, and a file without a secret key in its place', async (t) => {
		const dataDir = await emptyFolder(t);
		{
			await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
			const record = document({ blob: 'a'.repeat(64) });
			const fact = { id: 'secret_key', value: 'of another key', created_at: Date.now() };
			await store.commit({ write: [{ op: 'insert', kind: 'documents', record }] });
			await store.commit({ write: [{ op: 'insert', kind: 'server_facts', record: fact }] });
			await store.commit({ write: [{ op: 'insert', kind: 'webhooks', record: webhook() }] });
		}
		assert.match(
			await failure(dataDir, 'files'),
			/^Uploaded: 0, .+ Missing: 1, for example a{64}\. Copy them from a backup into blobs, or upload their documents again\.$/,
		);
		await writeFile(join(dataDir, 'secret.key'), 'broken', { mode: 0o600 });
		assert.match(await failure(dataDir, 'secret key'), /"parley secrets reset" lists them first\.$/);
	});

	test('a disk with little space', { skip: SKIP_DISK }, async () => {
		await using disk = (await mountSmallDisk(40)) ?? assert.fail('there is no small disk');
		assert.match(
			await failure(await fill(disk.folder), 'disk'),
			/^[\d.]+ MiB are free, which is less than 256 MiB\. Free up space on the disk\.$/,
		);
	});

	test('a data folder in whose place there is a file', async (t) => {
		const file = join(await emptyFolder(t), 'data');
		await writeFile(file, '');
		for (const subject of ['database', 'data folder']) {
			assert.match(
				await failure(file, subject),
				/ Move that away, or set PARLEY_DATA_DIR to another folder\. \(ENOTDIR\)$/,
			);
		}
	});

	test('no backups, and late ones', async (t) => {
		const dataDir = await usedFolder(t);
		const folder = await emptyFolder(t);
		const env = { PARLEY_BACKUP_DIR: folder, PARLEY_BACKUP_EVERY: '1d' };
		const remedy = `Look for 'a backup has failed' in the server's log. If the server does not run, start it.`;
		assert.equal(await failure(dataDir, 'backups', env), `There is none in ${folder}. ${remedy}`);
		const archive = (madeAt: number) => {
			const moment = timestamp(madeAt).replaceAll(/[-:]/g, '');
			return writeFile(join(folder, `parley-${backupSeries(dataDir)}-${moment}.tar`), '');
		};
		await archive(Date.now() - 3 * DAY_MS);
		const late = await failure(dataDir, 'backups', env);
		assert.match(late, /^1 in .+, which is longer ago than twice PARLEY_BACKUP_EVERY \(1d\)\. /);
		assert.ok(late.endsWith(remedy), late);
		// A clock that was wrong.
		await archive(Date.now() + 30 * DAY_MS);
		assert.match(await failure(dataDir, 'backups', env), /^2 in .+ longer ago than twice/);
		await rm(folder, { recursive: true });
		await writeFile(folder, '');
		assert.match(
			await failure(dataDir, 'backups', env),
			/cannot be listed: .+\. Make it a folder that the server's user can read and write\.$/,
		);
	});

	test('a certificate that clients refuse, or that cannot be read', async (t) => {
		const dataDir = await usedFolder(t);
		const found = (certificate: string, key: string) =>
			failure(dataDir, 'certificate', { PARLEY_TLS_CERT: certificate, PARLEY_TLS_KEY: key });
		for (const [validTo, expected] of [
			[Date.now() - DAY_MS, /expired on .+: clients refuse it\. Renew it, then send SIGHUP to the server\.$/],
			[Date.now() + 10 * DAY_MS, /in less than 14 days\. Renew it, then send SIGHUP to the server\.$/],
		] as const) {
			const files = await certificateFiles(t, { name: 'chat.example.com', validTo: new Date(validTo) });
			assert.match(await found(files.certificate, files.key), expected);
		}
		const text = join(await emptyFolder(t), 'cert.pem');
		const remedy = / Set PARLEY_TLS_CERT to a certificate in PEM, and PARLEY_TLS_KEY to its private key\.$/;
		assert.match(await found(text, text), remedy);
		await writeFile(text, 'no PEM');
		assert.match(await found(text, text), remedy);
	});

	test('a model, packages for text recognition and thesauri that are not there', async (t) => {
		const dataDir = await usedFolder(t);
		const folder = await emptyFolder(t);
		assert.match(
			await failure(dataDir, 'default model', { PARLEY_DEFAULT_MODEL: 'none/large' }),
			/ Correct PARLEY_DEFAULT_MODEL, or add the model to PARLEY_PROVIDERS\.$/,
		);
		const recognition = { PARLEY_OCR: 'eng', PARLEY_OCR_DIR: folder };
		assert.match(await failure(dataDir, 'text recognition', recognition), / and name it in PARLEY_OCR_DIR\.$/);
		for (const place of [folder, join(folder, 'none')]) {
			assert.match(
				await failure(dataDir, 'thesauri', { PARLEY_THESAURI: place }),
				/ Install the thesaurus again, or correct PARLEY_THESAURI\.$/,
			);
		}
	});

	test('a provider and an embedder that refuse, have failed, or do not answer', async (t) => {
		const dataDir = await usedFolder(t);
		await using models = await ModelServer.start();
		const entry = { id: 'local', type: 'openai-compatible', base_url: models.baseUrl, models: [{ name: 'small' }] };
		const providers = (more: object) => ({ PARLEY_PROVIDERS: JSON.stringify([{ ...entry, ...more }]) });
		for (const [status, expected] of [
			[401, / The test asked the model small\. Correct the key in the variable that api_key_env names\.$/],
			[402, / Add credit at the provider, or use another one\.$/],
			[404, / Correct base_url and the name of the model in PARLEY_PROVIDERS\.$/],
			[503, / Try again later, and look at the log of the provider\.$/],
		] as const) {
			const script = { status, body: '{}', headers: { 'retry-after': '600' } };
			models.setDefault([script]);
			assert.match(await failure(dataDir, 'provider local', providers({})), expected);
			models.embeddings.setDefault({ ...script });
			const embedder = await failure(dataDir, 'embedder', { ...providers({}), PARLEY_EMBEDDER: 'local/embed' });
			assert.match(embedder.replace('local/embed', 'the model small'), expected);
		}
		assert.match(
			await failure(dataDir, 'provider local', providers({ base_url: `${models.origin}/v2`, models: undefined })),
			/^There is nothing at .+\/v2\/models\. Correct base_url /,
		);
		await models[Symbol.asyncDispose]();
		assert.match(
			await failure(dataDir, 'provider local', providers({})),
			/ Start the provider, or correct base_url in PARLEY_PROVIDERS\.$/,
		);
	});
});
