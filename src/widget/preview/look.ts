import type { Appearance, Features } from '../../contract/index.ts';

/** What the dashboard's editor asks the preview to show. */
export interface Look {
	appearance: Appearance;
	features: PreviewFeatures;
	/** The colour scheme of the page around the widget. */
	scheme: 'light' | 'dark';
	/** A BCP 47 tag; null: the browser's languages. */
	language: string | null;
}

/** The preview needs no visitor's token. */
export type PreviewFeatures = Omit<Features, 'jwt_required'>;

export const SHOW = 'parley:preview-show';

/** Whether a value is allowed. */
type Check = (value: unknown) => boolean;

/** The rules of the contract (src/contract/deployments.ts). A test compares both. */
const COLOUR = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;
const HTTPS_URL = /^https:\/\/[^\s\p{Cc}]+$/u;
const WEB_URL = /^https?:\/\/[^\s\p{Cc}]+$/u;
const LINES = /^(?:[^\p{Cc}]|[\t\n\r])*$/u;
const SINGLE_LINE = /^[^\p{Cc}\u2028\u2029]*[^\s\p{Cc}][^\p{Cc}\u2028\u2029]*$/u;
const LANGUAGE = /^[a-z]{2}$/;

const text =
	(pattern: RegExp, maxLength: number): Check =>
	(value) =>
		typeof value === 'string' && value.length <= 2 * maxLength && [...value].length <= maxLength && pattern.test(value);
const oneOf =
	(...known: string[]): Check =>
	(value) =>
		known.includes(value as string);
const orNull =
	(check: Check): Check =>
	(value) =>
		value === null || check(value);
const isBoolean: Check = (value) => typeof value === 'boolean';
const listOf =
	(check: Check, maxItems: number): Check =>
	(value) =>
		Array.isArray(value) && value.length <= maxItems && value.every(check);

const APPEARANCE: { [K in keyof Appearance]: Check } = {
	primary_color: text(COLOUR, 7),
	theme: oneOf('light', 'dark', 'auto'),
	position: oneOf('bottom-right', 'bottom-left'),
	greeting: text(LINES, 1000),
	suggested_questions: listOf(text(SINGLE_LINE, 200), 10),
	assistant_name: orNull(text(SINGLE_LINE, 80)),
	status_text: orNull(text(SINGLE_LINE, 120)),
	logo_url: orNull(text(HTTPS_URL, 2000)),
	privacy_url: orNull(text(WEB_URL, 2000)),
	disclosure_text: orNull(text(SINGLE_LINE, 120)),
	font_family: oneOf('system', 'inherit', 'serif', 'mono'),
	radius: oneOf('none', 'small', 'medium', 'large'),
};

const FEATURES: { [K in keyof PreviewFeatures]: Check } = {
	streaming: isBoolean,
	rich_content: isBoolean,
	ai_disclosure: isBoolean,
	handoff: isBoolean,
};

/** Whether a value is an appearance that the API would store. */
export const isAppearance = objectOf(APPEARANCE);

const isLookMessage = objectOf({
	type: oneOf(SHOW),
	appearance: isAppearance,
	features: objectOf(FEATURES),
	scheme: oneOf('light', 'dark'),
	language: orNull(text(LANGUAGE, 2)),
});

/** The look in a message; null for any other value. */
export function lookOf(message: unknown): Look | null {
	return isLookMessage(message) ? (message as Look) : null;
}

/** A plain object with exactly these members. */
function objectOf(members: Record<string, Check>): Check {
	const names = Object.keys(members);
	return (value) => {
		if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
		if (Object.keys(value).length !== names.length) return false;
		return names.every(
			(name) => Object.hasOwn(value, name) && members[name]?.((value as Record<string, unknown>)[name]),
		);
	};
}
