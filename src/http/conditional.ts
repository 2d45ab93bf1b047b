import { createHash } from 'node:crypto';
import { AppError } from '../base/index.ts';
import type { BytesResponse, Headers } from './types.ts';

const ETAG_PATTERN = /(W\/)?("[\x21\x23-\x7e\x80-\u{10ffff}]*")/uy;
const SEPARATOR = /[ \t]*(?:,[ \t]*)*/y;

/** The strong entity tag of these bytes. */
export function etagOf(bytes: string | Uint8Array): string {
	return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`;
}

/** The strong entity tag of a resource's version. */
export function versionEtag(version: number): string {
	return `"${version}"`;
}

/** One entity tag of a conditional header; `tag` keeps its quotes. */
export interface EntityTag {
	weak: boolean;
	tag: string;
}

/**
 * Reads If-Match or If-None-Match (RFC 9110, section 13.1).
 * @throws AppError `invalid_request` for a value that is neither `*` nor a list of quoted tags
 */
export function parseEntityTags(value: string): '*' | EntityTag[] {
	const text = value.trim();
	if (text === '*') return '*';
	const tags: EntityTag[] = [];
	let at = 0;
	while (at < text.length) {
		ETAG_PATTERN.lastIndex = at;
		const match = ETAG_PATTERN.exec(text);
		if (match === null) break;
		tags.push({ weak: match[1] !== undefined, tag: match[2] as string });
		SEPARATOR.lastIndex = ETAG_PATTERN.lastIndex;
		SEPARATOR.exec(text);
		at = SEPARATOR.lastIndex;
	}
	if (tags.length === 0 || at < text.length) {
		throw new AppError('invalid_request', 'If-Match and If-None-Match take "*" or entity tags in double quotes.');
	}
	return tags;
}

/** Whether an If-None-Match header names this tag, by weak comparison (RFC 9110, section 13.1.2). An invalid header names none. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
	if (ifNoneMatch === undefined) return false;
	if (ifNoneMatch === etag) return true;
	if (!ifNoneMatch.includes('"')) return ifNoneMatch.trim() === '*';
	try {
		const tags = parseEntityTags(ifNoneMatch);
		const opaque = etag.startsWith('W/') ? etag.slice(2) : etag;
		return tags === '*' || tags.some(({ tag }) => tag === opaque);
	} catch {
		return false;
	}
}

/**
 * The 304 for a request whose cached copy is current, or null: then send the full response.
 * @param headers those of the full response that a cache updates: ETag, Cache-Control, Vary and the like
 */
export function notModified(ifNoneMatch: string | undefined, etag: string, headers: Headers): BytesResponse | null {
	return matchesEtag(ifNoneMatch, etag) ? { status: 304, headers } : null;
}

/**
 * The versions that an If-Match header names; null for `*` and without a header.
 * @throws AppError `invalid_request` for an invalid header
 */
export function ifMatchVersions(ifMatch: string | undefined): readonly number[] | null {
	if (ifMatch === undefined) return null;
	const tags = parseEntityTags(ifMatch);
	if (tags === '*') return null;
	// Strong comparison: a weak tag, or a tag that is not a version number, matches nothing.
	return tags.map(({ weak, tag }) => (!weak && /^"\d{1,15}"$/.test(tag) ? Number(tag.slice(1, -1)) : Number.NaN));
}
