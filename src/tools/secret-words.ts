import { HIDDEN } from '../contract/index.ts';
import type { ToolConfig } from './config.ts';
import { isSecretHeader } from './headers.ts';

/** What is shorter stands in ordinary text by chance. */
const SHORTEST = 4;
/** Of a part of a header's value: `Bearer` and `session` are no secrets. */
const SHORTEST_PART = 8;

/** The secrets of a tool, to be taken out of whatever others answer: an API may well echo what it was sent. */
export class SecretWords {
	readonly #pattern: RegExp | null;
	/** Characters of the longest form of a secret. */
	readonly longest: number;

	/** @param config opened */
	constructor(config: ToolConfig) {
		const words = [...new Set(secretsOf(config).flatMap(formsOf))].filter((word) => word.length >= SHORTEST);
		// The longest first: one may be a part of another.
		words.sort((a, b) => b.length - a.length);
		this.longest = words[0]?.length ?? 0;
		this.#pattern = words.length === 0 ? null : new RegExp(words.map(escaped).join('|'), 'g');
	}

	/** The text with each secret replaced by `***`. */
	readonly hide = (text: string): string => (this.#pattern ? text.replace(this.#pattern, HIDDEN) : text);
}

/** Each secret that calls carry, and those parts of headers that are secrets by themselves. */
function secretsOf(config: ToolConfig): string[] {
	const headers = Object.entries(config.headers).flatMap(([name, value]) =>
		isSecretHeader(name) ? [value, ...partsOf(value)] : [],
	);
	if (!('auth' in config)) return headers;
	const { auth } = config;
	switch (auth.type) {
		case 'none':
			return headers;
		case 'bearer':
			return [...headers, auth.token];
		case 'basic':
			return [...headers, auth.password, basicCredentials(auth)];
		case 'header':
			return [...headers, auth.value, ...partsOf(auth.value)];
	}
}

/** The credentials of the scheme Basic (RFC 7617, 2). */
export function basicCredentials({ username, password }: { username: string; password: string }): string {
	return Buffer.from(`${username}:${password}`).toString('base64');
}

/** The token behind a scheme, the value of a cookie. */
function partsOf(value: string): string[] {
	return value.split(/[\s;,="]+/).filter((part) => part.length >= SHORTEST_PART);
}

/** A secret as itself, within JSON, and within a URL. */
function formsOf(secret: string): string[] {
	return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
}

function escaped(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
