import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from './errors.ts';

/** Paths of two files in PEM: the certificate with the intermediate ones after it, and its private key. */
export interface TlsFiles {
	certificate: string;
	key: string;
}

/** What a certificate says of itself. */
export interface CertificateSummary {
	/** Names and addresses that it is for, separated by commas. */
	names: string;
	validFrom: Date;
	validTo: Date;
}

/** Kinds of keys that the HTTP library can use for TLS. */
const KEY_TYPES = ['rsa', 'ec'];

/**
 * Reads a certificate and its key, and checks that they belong together. An expired certificate is no error.
 * @throws Error with a sentence that names the file
 */
export function readCertificate(files: TlsFiles): CertificateSummary {
	const certificate = parseCertificate(files.certificate);
	const key = parseKey(files.key);
	if (!certificate.checkPrivateKey(key)) {
		throw new Error(
			`The key in ${files.key} does not belong to the certificate in ${files.certificate}. The server's certificate must be the first in its file.`,
		);
	}
	return {
		names: namesOf(certificate),
		validFrom: new Date(certificate.validFrom),
		validTo: new Date(certificate.validTo),
	};
}

/** A sentence about a certificate that clients refuse at this time; null if it is valid. */
export function validityProblem({ validFrom, validTo }: CertificateSummary, now: number): string | null {
	if (now > validTo.getTime()) return `The certificate expired on ${validTo.toISOString()}: clients refuse it.`;
	if (now < validFrom.getTime()) return `The certificate is valid only from ${validFrom.toISOString()} on.`;
	return null;
}

function parseCertificate(path: string): X509Certificate {
	const bytes = readPem(path, 'certificate');
	try {
		return new X509Certificate(bytes);
	} catch (cause) {
		throw new Error(`There is no certificate in PEM in ${path}.`, { cause });
	}
}

function parseKey(path: string): KeyObject {
	const bytes = readPem(path, 'private key');
	let key: KeyObject;
	try {
		key = createPrivateKey(bytes);
	} catch (cause) {
		// "BEGIN ENCRYPTED PRIVATE KEY" (RFC 7468), or "Proc-Type: 4,ENCRYPTED" (RFC 1421). The error's code depends on the version of Node.
		const isEncrypted = bytes.includes('ENCRYPTED');
		const problem = isEncrypted
			? `The private key in ${path} is encrypted. Decrypt it, for example with "openssl pkey".`
			: `There is no private key in PEM in ${path}.`;
		throw new Error(problem, { cause });
	}
	if (KEY_TYPES.includes(key.asymmetricKeyType ?? '')) return key;
	throw new Error(`The private key in ${path} is of the kind ${key.asymmetricKeyType}. Use an RSA or ECDSA key.`);
}

function readPem(path: string, content: string): Buffer {
	try {
		return readFileSync(path);
	} catch (cause) {
		const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
		const problem = isMissing ? 'does not exist' : `cannot be read: ${messageOf(cause)}`;
		throw new Error(`The file ${path} of the ${content} ${problem}.`, { cause });
	}
}

/** The alternative names of a certificate, else its subject. */
function namesOf({ subjectAltName, subject }: X509Certificate): string {
	if (subjectAltName === undefined) return subject.replaceAll('\n', ', ');
	return subjectAltName.replaceAll(/(DNS|IP Address):/g, '');
}
