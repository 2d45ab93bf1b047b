import { HIDDEN_SECRET } from '../contract/index.ts';
import { CanonicalText } from './canonical-text.ts';
import type { ToolConfig } from './config.ts';
import { isSecretHeader } from './headers.ts';

/** What is shorter stands in ordinary text by chance. */
const SHORTEST = 4;
/** Of a part of a header's value: `Bearer` and `session` are no secrets. */
const SHORTEST_PART = 8;
/** Characters of the longest form in which one that is neither a letter nor a digit is commonly written: `\\\u002f`, %25C3%25A4. */
const LONGEST_ESCAPE = 10;

/** The secrets of a tool, to be taken out of whatever others answer: an API may well echo what it was sent. */
export class SecretWords {
	readonly #asTheyAre: RegExp | null;
	readonly #canonical: RegExp | null;
	/** Characters of the longest form of a secret. */
	readonly longest: number;

	/** @param config opened */
	constructor(config: ToolConfig) {
		const words = [...new Set(secretsOf(config))];
		this.longest = Math.max(0, ...words.map(longestForm));
		this.#asTheyAre = anyOf(words);
		this.#canonical = anyOf(words.map((word) => new CanonicalText(word).bytes));
	}

	/** The text with each secret replaced by `***`, however it is written there: within JSON, a URL, HTML, or one in another. */
	readonly hide = (text: string): string => {
		if (this.#asTheyAre === null) return text;
		const shown = text.replace(this.#asTheyAre, HIDDEN_SECRET);
		return this.#canonical === null ? shown : new CanonicalText(shown).replace(this.#canonical, HIDDEN_SECRET);
	};
}

/** What finds any of the words, the longest first: one may be a part of another. */
function anyOf(words: readonly string[]): RegExp | null {
	const sought = [...new Set(words)].filter((word) => word.length >= SHORTEST).sort((a, b) => b.length - a.length);
	return sought.length === 0 ? null : new RegExp(sought.map(escaped).join('|'), 'g');
}

function longestForm(secret: string): number {
	const plain = secret.match(/[a-z0-9]/gi)?.length ?? 0;
	return plain + LONGEST_ESCAPE * (secret.length - plain);
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

function escaped(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
