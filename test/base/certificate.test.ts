import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readCertificate, validityProblem } from '../../src/base/index.ts';
import { certificateFiles, createCertificate } from '../support/certificate.ts';

test('reads the names and the time of a certificate', async (t) => {
	const validTo = new Date('2031-05-06T07:08:09Z');
	const files = await certificateFiles(t, { name: 'chat.example.com', validTo });
	const certificate = readCertificate(files);
	assert.equal(certificate.names, 'chat.example.com, 127.0.0.1');
	assert.deepEqual(certificate.validTo, validTo);
	assert.equal(validityProblem(certificate, validTo.getTime()), null);
	assert.equal(
		validityProblem(certificate, validTo.getTime() + 1),
		'The certificate expired on 2031-05-06T07:08:09.000Z: clients refuse it.',
	);
	assert.match(validityProblem(certificate, 0) ?? '', /^The certificate is valid only from \d{4}-.*Z on\.$/);
});

test('a file that is missing, unreadable or without the expected content gives a sentence with its path', async (t) => {
	const files = await certificateFiles(t);
	const { certificate, key } = files;
	const good = createCertificate();
	const refused = (expected: RegExp) => assert.throws(() => readCertificate(files), { message: expected });

	await writeFile(certificate, 'a shopping list');
	refused(/^There is no certificate in PEM in .+certificate\.pem\.$/);
	await rm(certificate);
	refused(/^The file .+certificate\.pem of the certificate does not exist\.$/);

	await files.write({ ...good, key: 'a shopping list' });
	refused(/^There is no private key in PEM in .+key\.pem\.$/);
	await rm(key);
	refused(/^The file .+key\.pem of the private key does not exist\.$/);
	assert.throws(() => readCertificate({ certificate: '/', key }), { message: /^The file \/ .* cannot be read: / });
});

test('a key that does not belong to the certificate, an encrypted one, and one of an unusual kind are refused', async (t) => {
	const files = await certificateFiles(t);
	const refused = (expected: RegExp) => assert.throws(() => readCertificate(files), { message: expected });
	await files.write({ ...createCertificate(), key: createCertificate().key });
	refused(/^The key in .+key\.pem does not belong to the certificate in .+certificate\.pem\./);

	const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const encryption = { cipher: 'aes-256-cbc', passphrase: 'secret' };
	const encrypted = privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption }).toString();
	await files.write({ ...createCertificate(), key: encrypted });
	refused(/^The private key in .+key\.pem is encrypted\./);

	const other = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
	await files.write({ ...createCertificate(), key: other });
	refused(/^The private key in .+key\.pem is of the kind ed25519\. Use an RSA or ECDSA key\.$/);
});
