import { HIDDEN_SECRET } from '../contract/index.ts';
import { CanonicalText } from './canonical-text.ts';
import type { ToolConfig } from './config.ts';
import { isSecretHeader } from './headers.ts';

/** Shorter values occur in ordinary text by chance. */
const MIN_SECRET_LENGTH = 4;
/** For a part of a header's value: `Bearer` and `session` are no secrets. */
const MIN_TOKEN_LENGTH = 8;
/** Characters of the longest common escape of one character that is neither a letter nor a digit: `\\\u002f`, %25C3%25A4. */
const MAX_ESCAPE_LENGTH = 10;

/** Redacts the secrets of a tool in responses: an API may echo its request. */
export class SecretRedactor {
	readonly #literalPattern: RegExp | null;
	readonly #canonicalPattern: RegExp | null;
	/** Characters of the longest form of a secret. */
	readonly maxSecretLength: number;

	/** @param config opened */
	constructor(config: ToolConfig) {
		const secrets = [...new Set(secretsOf(config))];
		this.maxSecretLength = Math.max(0, ...secrets.map(maxEscapedLength));
		this.#literalPattern = patternOfAny(secrets);
		this.#canonicalPattern = patternOfAny(secrets.map((word) => new CanonicalText(word).bytes));
	}

	/** The text with each secret replaced by `***`, in any encoding: JSON, URL, HTML, or one within another. */
	readonly redact = (text: string): string => {
		if (this.#literalPattern === null) return text;
		const shown = text.replace(this.#literalPattern, HIDDEN_SECRET);
		return this.#canonicalPattern === null
			? shown
			: new CanonicalText(shown).replace(this.#canonicalPattern, HIDDEN_SECRET);
	};
}

/** A pattern for any of the words, the longest first: one may be a part of another. */
function patternOfAny(words: readonly string[]): RegExp | null {
	const secrets = [...new Set(words)]
		.filter((word) => word.length >= MIN_SECRET_LENGTH)
		.sort((a, b) => b.length - a.length);
	return secrets.length === 0 ? null : new RegExp(secrets.map(escapeRegExp).join('|'), 'g');
}

function maxEscapedLength(secret: string): number {
	const plain = secret.match(/[a-z0-9]/gi)?.length ?? 0;
	return plain + MAX_ESCAPE_LENGTH * (secret.length - plain);
}

/** Each secret that calls send, and the parts of header values that are secrets by themselves. */
function secretsOf(config: ToolConfig): string[] {
	const headers = Object.entries(config.headers).flatMap(([name, value]) =>
		isSecretHeader(name) ? [value, ...headerTokensOf(value)] : [],
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
			return [...headers, auth.value, ...headerTokensOf(auth.value)];
	}
}

/** The credentials of the scheme Basic (RFC 7617, 2). */
export function basicCredentials({ username, password }: { username: string; password: string }): string {
	return Buffer.from(`${username}:${password}`).toString('base64');
}

/** The token behind a scheme, the value of a cookie. */
function headerTokensOf(value: string): string[] {
	return value.split(/[\s;,="]+/).filter((part) => part.length >= MIN_TOKEN_LENGTH);
}

function escapeRegExp(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
