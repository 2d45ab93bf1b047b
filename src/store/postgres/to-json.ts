import { toUSVString } from 'node:util';

/** What PostgreSQL has no text for: the character NUL, and halves of a surrogate pair. */
const UNSTORABLE = /\\u(0000|d[89a-f][0-9a-f]{2})/;

/** JSON that PostgreSQL accepts. What it cannot store becomes the replacement character, U+FFFD. */
export function toJson(value: unknown): string {
	const json = JSON.stringify(value);
	return UNSTORABLE.test(json)
		? JSON.stringify(value, (_, item) => (typeof item === 'string' ? storable(item) : item))
		: json;
}

/** A text that PostgreSQL accepts. */
export function storable(text: string): string {
	return toUSVString(text.replaceAll('\0', '\ufffd'));
}
