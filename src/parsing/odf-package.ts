import { AppError } from '../base/index.ts';
import { readXml } from './xml-reader.ts';
import { Parts } from './zip-archive.ts';

/** The parts of an OpenDocument package (ISO/IEC 26300-3) that hold text. */
export interface OdfPackage {
	content: Uint8Array;
	styles: Uint8Array | undefined;
	/** Its title and language, and what else describes it. */
	meta: Uint8Array | undefined;
}

/**
 * Opens an OpenDocument package.
 * @param kind what the file is, for the sentences of errors
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function openOdf(bytes: Uint8Array, kind: string): OdfPackage {
	const parts = new Parts(bytes, kind);
	if (isEncrypted(parts.get('meta-inf/manifest.xml'), kind)) {
		throw new AppError(
			'unreadable_file',
			`The ${kind} is protected with a password. Remove the password and upload it again.`,
		);
	}
	const content = parts.get('content.xml');
	if (content === undefined) {
		throw new AppError('unreadable_file', `This is not a ${kind}, although its name or type says so.`);
	}
	return { content, styles: parts.get('styles.xml'), meta: parts.get('meta.xml') };
}

function isEncrypted(manifest: Uint8Array | undefined, kind: string): boolean {
	let found = false;
	if (manifest === undefined) return found;
	const handlers = {
		open: ({ name }: { name: string }) => {
			found ||= name === 'manifest:encryption-data';
		},
		close: () => {},
		text: () => {},
	};
	readXml(manifest, handlers, kind);
	return found;
}

/** A number of repetitions or of spanned cells; 1 without an attribute. */
export function countOf(value: string | null): number {
	const count = Number(value ?? 1);
	return Number.isInteger(count) && count > 0 ? count : 1;
}
