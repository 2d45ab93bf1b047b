import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { certificateFiles, createCertificate } from '../support/certificate.ts';
import { httpsRequest } from '../support/https-request.ts';
import { freePort } from '../support/listening.ts';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

type Files = Awaited<ReturnType<typeof certificateFiles>>;
const environment = ({ certificate, key }: Files) => ({ PARLEY_TLS_CERT: certificate, PARLEY_TLS_KEY: key });

test('a server with a certificate has an https address everywhere, and its cookies are for https only', async (t) => {
	const files = await certificateFiles(t);
	const env = { ...environment(files), PARLEY_PORT: String(await freePort()) };
	const dataDir = await temporaryFolder(t);
	await using server = await startServer({ dataDir, env });
	assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
	const ca = await readFile(files.certificate, 'utf8');
	assert.equal((await httpsRequest(`${server.url}/healthz`, { ca })).status, 200);
	const health = await runProgram(dataDir, ['healthcheck'], env);
	assert.deepEqual([health.code, health.out], [0, `${server.url} is alive.\n`], health.err);

	const notice = await readFile(join(dataDir, 'first-start.txt'), 'utf8');
	assert.ok(notice.includes(`${server.url}/`), notice);
	const link = await runProgram(dataDir, ['users', 'reset-password', 'owner@localhost'], env);
	const [, token] = /^https:\/\/127\.0\.0\.1:\d+\/\S*#(?:.*=)?(\S+)$/m.exec(link.out) ?? assert.fail(link.out);
	const signedIn = await httpsRequest(`${server.url}/api/v1/session/password`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', origin: server.url },
		body: JSON.stringify({ token, password: 'correct horse battery staple' }),
	});
	assert.ok(signedIn.status < 300, signedIn.body);
	assert.match(String(signedIn.headers['set-cookie']), /; Secure/);
});

test('SIGHUP reloads the certificate, and a wrong file keeps the former one and is logged', async (t) => {
	const files = await certificateFiles(t, { name: 'first' });
	await using server = await startServer({ env: { ...environment(files), PARLEY_LOG_LEVEL: 'info' } });
	const certificateName = async () => (await httpsRequest(`${server.url}/healthz`)).certificateName;
	assert.equal(await certificateName(), 'first');

	await writeFile(files.certificate, 'a shopping list');
	process.kill(server.pid, 'SIGHUP');
	await until('the refusal is logged', () => server.output().includes('the former one stays'));
	assert.match(server.output(), /There is no certificate in PEM in .+certificate\.pem\./);
	assert.equal(await certificateName(), 'first');

	await files.write(createCertificate({ name: 'second' }));
	process.kill(server.pid, 'SIGHUP');
	await until('the new certificate is in use', async () => (await certificateName()) === 'second');
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('an expired certificate is a warning, and the doctor fails', async (t) => {
	const files = await certificateFiles(t, { validTo: new Date('2020-02-03T04:05:06Z') });
	const dataDir = await temporaryFolder(t);
	await using server = await startServer({ dataDir, env: environment(files) });
	const expired = 'The certificate expired on 2020-02-03T04:05:06.000Z: clients refuse it.';
	assert.ok(server.output().includes(expired), server.output());
	assert.equal((await httpsRequest(`${server.url}/healthz`)).status, 200);
	const doctor = async () => (await runProgram(dataDir, ['doctor'], environment(files))).out;
	assert.match(await doctor(), /^FAILED {2}certificate +The certificate expired on 2020-02-03T04:05:06\.000Z/m);
	await files.write(createCertificate({ name: 'chat.example.com' }));
	assert.match(await doctor(), /^ok {2}certificate +It is for chat\.example\.com, 127\.0\.0\.1, until \d{4}-\S+Z\.$/m);
});

test('a server whose certificate cannot be used does not start, and says why', async (t) => {
	const files = await certificateFiles(t);
	await writeFile(files.key, createCertificate().key);
	const dataDir = await temporaryFolder(t);
	const { code, err } = await runProgram(dataDir, ['serve'], environment(files));
	assert.equal(code, 2, err);
	assert.match(
		err,
		/^parley: TLS \(PARLEY_TLS_CERT, PARLEY_TLS_KEY\) is not possible\. The key in .* does not belong to /,
	);
});
