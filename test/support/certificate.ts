import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** A certificate for tests. */
export interface TestCertificateOptions {
	/** The common name, also its DNS name. Default: localhost. */
	name?: string;
	validFrom?: Date;
	validTo?: Date;
	keys?: { publicKey: KeyObject; privateKey: KeyObject };
}

/** A self-signed certificate (ECDSA with SHA-256) and its key, in PEM. */
export function createCertificate(options: TestCertificateOptions = {}): { certificate: string; key: string } {
	const { name = 'localhost', keys = generateKeyPairSync('ec', { namedCurve: 'P-256' }) } = options;
	const validFrom = options.validFrom ?? new Date(Date.now() - 3_600_000);
	const validTo = options.validTo ?? new Date(Date.now() + 90 * 86_400_000);
	const algorithm = sequence(ECDSA_WITH_SHA256);
	const distinguishedName = sequence(element(0x31, sequence(COMMON_NAME, element(0x0c, Buffer.from(name)))));
	const names = sequence(element(0x82, Buffer.from(name)), element(0x87, Buffer.from([127, 0, 0, 1])));
	const extension = sequence(SUBJECT_ALT_NAME, element(0x04, names));
	const content = sequence(
		element(0xa0, element(0x02, Buffer.from([2]))),
		element(0x02, Buffer.from([1])),
		algorithm,
		distinguishedName,
		sequence(utcTime(validFrom), utcTime(validTo)),
		distinguishedName,
		keys.publicKey.export({ type: 'spki', format: 'der' }),
		element(0xa3, sequence(extension)),
	);
	const signature = sign('sha256', content, keys.privateKey);
	const bytes = sequence(content, algorithm, element(0x03, Buffer.concat([Buffer.from([0]), signature])));
	const base64 = (bytes.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
	return {
		certificate: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
		key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
	};
}

/** Files of a certificate, removed with the test. `write` replaces both. */
export async function certificateFiles(t: TestContext, options: TestCertificateOptions = {}) {
	const folder = await mkdtemp(join(tmpdir(), 'parley-tls-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
	const write = async (content: { certificate: string; key: string }) => {
		await writeFile(files.certificate, content.certificate);
		await writeFile(files.key, content.key);
	};
	await write(createCertificate(options));
	return { ...files, write };
}

// Object identifiers in DER: 1.2.840.10045.4.3.2, 2.5.4.3 and 2.5.29.17.
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');

/** An element of DER (X.690): tag, length, content. */
function element(tag: number, content: Buffer): Buffer {
	const { length } = content;
	const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
	return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
	return element(0x30, Buffer.concat(parts));
}

function utcTime(date: Date): Buffer {
	const digits = date.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14);
	return element(0x17, Buffer.from(`${digits}Z`));
}
