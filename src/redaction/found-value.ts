/** What can be redacted. */
export const REDACTION_KINDS = ['email', 'phone', 'card'] as const;
export type RedactionKind = (typeof REDACTION_KINDS)[number];

/** A value in a text, from `start` to before `end` in UTF-16 code units. */
export interface FoundValue {
	kind: RedactionKind;
	start: number;
	end: number;
	/** The same for different spellings of one value, such as with and without spaces. */
	key: string;
}
