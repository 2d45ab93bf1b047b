import { decodedEmail } from './emails.ts';
import { findValues } from './find-values.ts';
import type { FoundValue, RedactionKind } from './found-value.ts';
import { PLACEHOLDER } from './placeholder-pattern.ts';

const NAMES: Readonly<Record<RedactionKind, string>> = { email: 'EMAIL', phone: 'PHONE', card: 'CARD' };

/**
 * The placeholders of a conversation: `[EMAIL_1]`, `[PHONE_1]`, `[CARD_1]`, numbered by kind in the order in which the values
 * first come. The same texts in the same order give the same placeholders, so nothing of them is stored.
 */
export class Placeholders {
	readonly #kinds: ReadonlySet<RedactionKind>;
	readonly #byKey = new Map<string, string>();
	readonly #values = new Map<string, string>();
	readonly #counts = new Map<RedactionKind, number>();

	constructor(kinds: Iterable<RedactionKind>) {
		this.#kinds = new Set(kinds);
	}

	/** Whether no value was found yet. */
	get isEmpty(): boolean {
		return this.#values.size === 0;
	}

	/** The value of a placeholder, as it was first written; undefined for an unknown placeholder. */
	valueOf(placeholder: string): string | undefined {
		return this.#values.get(placeholder);
	}

	/** Gives placeholders to the values of a text that is redacted later. */
	learn(text: string): void {
		for (const value of this.#find(text)) this.#placeholderFor(value, text);
	}

	/**
	 * The text with placeholders for its values. What only looks like a placeholder gets other brackets: otherwise a person could
	 * write the placeholder of a value that the model alone may use.
	 */
	redact(text: string): string {
		let redacted = '';
		let from = 0;
		for (const value of this.#find(text)) {
			redacted += neutralise(text.slice(from, value.start)) + this.#placeholderFor(value, text);
			from = value.end;
		}
		return redacted + neutralise(text.slice(from));
	}

	/** A JSON value whose texts, numbers and names of members are redacted. */
	redactJson(value: unknown): unknown {
		return mapTexts(
			value,
			(text) => this.redact(text),
			(number) => {
				const text = String(number);
				const redacted = this.redact(text);
				return redacted === text ? number : redacted;
			},
		);
	}

	/** The text with the values of all placeholders. */
	restore(text: string): string {
		if (this.isEmpty) return text;
		return text.replace(PLACEHOLDER, (written, name, number) => this.valueOf(`[${name}_${number}]`) ?? written);
	}

	/** A JSON value with the values of all placeholders in its texts and names of members. */
	restoreJson(value: unknown): unknown {
		return this.isEmpty
			? value
			: mapTexts(
					value,
					(text) => this.restore(text),
					(number) => number,
				);
	}

	#find(text: string): FoundValue[] {
		return findValues(text, this.#kinds, (key) => this.#byKey.has(`phone ${key}`));
	}

	#placeholderFor({ kind, key, start, end }: FoundValue, text: string): string {
		const known = this.#byKey.get(`${kind} ${key}`);
		if (known !== undefined) return known;
		const number = (this.#counts.get(kind) ?? 0) + 1;
		const placeholder = `[${NAMES[kind]}_${number}]`;
		this.#counts.set(kind, number);
		this.#byKey.set(`${kind} ${key}`, placeholder);
		const value = text.slice(start, end);
		this.#values.set(placeholder, kind === 'email' ? decodedEmail(value) : value);
		return placeholder;
	}
}

function neutralise(text: string): string {
	return text.includes('_') ? text.replace(PLACEHOLDER, '($1_$2)') : text;
}

function mapTexts(value: unknown, ofText: (text: string) => string, ofNumber: (number: number) => unknown): unknown {
	if (typeof value === 'string') return ofText(value);
	if (typeof value === 'number') return ofNumber(value);
	if (Array.isArray(value)) return value.map((item) => mapTexts(item, ofText, ofNumber));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, member]) => [ofText(name), mapTexts(member, ofText, ofNumber)]),
	);
}
