import type { Headers } from '../http/index.ts';
import type { DocumentRecord } from '../store/index.ts';
import { RawResponse } from './call.ts';

/** The longest name of a file that is offered (UTF-16 units). */
const MAX_NAME_CHARS = 200;

/**
 * A document's file as a download. Nothing in it runs as part of this origin: browsers save it instead of showing it, do not guess
 * another type, and give it no rights where they show it nevertheless.
 */
export function contentResponse(document: DocumentRecord, bytes: Uint8Array): RawResponse {
	const headers: Headers = [
		['content-type', 'application/octet-stream'],
		['content-disposition', attachmentNamed(fileNameOf(document))],
		['content-security-policy', "default-src 'none'; sandbox"],
		['x-content-type-options', 'nosniff'],
		['cache-control', 'no-store'],
	];
	return new RawResponse({ status: 200, headers, body: bytes });
}

function fileNameOf({ file_name, title, source_type, id }: DocumentRecord): string {
	if (file_name) return file_name;
	return `${title || id}.${source_type === 'url' ? 'html' : 'txt'}`;
}

/** A `Content-Disposition` with the name in ASCII for old clients, and whole (RFC 6266, with the encoding of RFC 8187). */
export function attachmentNamed(name: string): string {
	const plain = [...name.replace(/[\p{Cc}/\\]/gu, '_')].slice(0, MAX_NAME_CHARS).join('');
	const ascii = plain.replace(/[^ -~]|["%]/g, '_');
	const encoded = encodeURIComponent(plain).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
	return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
