import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import {
	AssistantCreate,
	asSingleLine,
	bodyValidator,
	ConversationPatch,
	type Operation,
	operations,
} from '../../src/contract/index.ts';

const takes = (check: (value: unknown) => unknown, value: unknown): boolean => {
	try {
		check(value);
		return true;
	} catch {
		return false;
	}
};

const INVISIBLE = ['', ' ', '   ', '\u00a0', '\u3000 ', '\ufeff', '\u200b', '\u200e \u2060', '\u3164', '\ufe0f'];
const CONTROLS = ['\u0000', '\u0007', '\u001b[31m', '\u007f', '\u0085', '\u009b', '\u000b', '\f'];
const LINE_BREAKS = ['\n', '\r\n', '\r'];

test('accepts a name of one line with a visible character and without control characters', () => {
	const check = bodyValidator(AssistantCreate);
	for (const name of ['A', 'Ада', '👩‍👩‍👧', ' a b ', 'مرحبا', 'a\u00a0b', '\u200ea', 'x'.repeat(200)]) {
		assert.ok(takes(check, { name }), JSON.stringify(name));
	}
	for (const name of INVISIBLE) assert.ok(!takes(check, { name }), JSON.stringify(name));
	for (const bad of [...CONTROLS, ...LINE_BREAKS, '\t', '\u2028', '\u2029']) {
		for (const name of [bad, `a${bad}`, `${bad}a`, `a${bad}b`]) {
			assert.ok(!takes(check, { name }), JSON.stringify(name));
		}
	}
	const title = bodyValidator(ConversationPatch);
	assert.ok(takes(title, { title: null }));
	assert.ok(!takes(title, { title: ' ' }) && !takes(title, { title: 'a\u0000' }));
});

test('accepts tabs and line breaks (LF, CR LF) in multiline text, and no other control characters', () => {
	const check = bodyValidator(AssistantCreate);
	for (const field of ['master_prompt', 'description']) {
		for (const text of ['', 'One.\n\tTwo.\r\nThree.', '\u2028', 'x'.repeat(2_000)]) {
			assert.ok(takes(check, { name: 'a', [field]: text }), `${field} ${JSON.stringify(text)}`);
		}
		for (const bad of CONTROLS) {
			assert.ok(!takes(check, { name: 'a', [field]: `One.\n${bad}` }), `${field} ${JSON.stringify(bad)}`);
		}
	}
});

test('a message has a visible character, and no control characters except tabs and line breaks', () => {
	const { sendMessage, sendWidgetMessage, sayInConversation } = operations;
	const bodies = [
		[sendMessage.body, { deployment_id: 'dep_1' }],
		[sendWidgetMessage.body, { deployment_id: 'dep_1' }],
		[sayInConversation.body, {}],
	] as const;
	for (const [schema, fields] of bodies) {
		const check = bodyValidator(schema);
		const sent = (content: string) => takes(check, { ...fields, content });
		for (const allowed of [...LINE_BREAKS, '\t', '\u2028', '👩‍👩‍👧']) {
			assert.ok(sent(`${allowed}Hello${allowed}`), JSON.stringify(allowed));
		}
		for (const text of [...INVISIBLE, ...LINE_BREAKS, '\t']) assert.ok(!sent(text), JSON.stringify(text));
		for (const bad of CONTROLS) {
			for (const text of [bad, `Hello${bad}`, `${bad}Hello`, `One.\n${bad}Two.`]) {
				assert.ok(!sent(text), JSON.stringify(text));
			}
		}
	}
});

test('a comment may be empty, and has no control characters except tabs and line breaks', () => {
	const bodies = [
		[operations.rateMessage.body, {}],
		[operations.rateWidgetMessage.body, { deployment_id: 'dep_1' }],
	] as const;
	for (const [schema, fields] of bodies) {
		const check = bodyValidator(schema);
		const rated = (comment: string | null) => takes(check, { ...fields, rating: 'down', comment });
		for (const comment of [null, '', ' ', 'One.\r\n\tTwo.\nThree.', 'x'.repeat(2_000)]) {
			assert.ok(rated(comment), JSON.stringify(comment));
		}
		for (const bad of CONTROLS) assert.ok(!rated(`Wrong.${bad}`), JSON.stringify(bad));
	}
});

test('rejects a long invalid text in linear time', () => {
	const check = bodyValidator(AssistantCreate);
	for (const text of [' '.repeat(31_999), 'a'.repeat(31_999), ' a'.repeat(15_999)]) {
		assert.ok(!takes(check, { name: 'a', master_prompt: `${text}\u0000` }));
	}
});

test('makes a name from another source one line; a name without a visible character becomes null', () => {
	assert.equal(asSingleLine('  Ada\u0000 \n\tLovelace\u009b '), 'Ada Lovelace');
	for (const text of ['', ' \n', '\u0000', '\u2028']) assert.equal(asSingleLine(text), null, JSON.stringify(text));
});

/** Texts of requests that are neither names nor prose, and why each has its own rule or none. */
const EXEMPT: readonly RegExp[] = [
	// Ids and cursors: any unknown value has its own error.
	/(^|[/_])ids?$|\/cursor$|\/last_event_id$|\/types$/,
	// Credentials and secrets: compared, never shown.
	/^createSession\/|^setPassword\/|^finishOidcSignIn\/|\/secret$|\/token$|\/(?:current_)?password$|\/value$/,
	// Parsed by stricter rules: user names, headers, PEM keys, URLs.
	/\/username$|\/auth\/name$|\/headers\/\*$|\/public_key$|\/jwks_url$|^addDocument\/url$/,
	// Filters: compared, never stored.
	/^(?:list|export)AuditLog\/(?:actor|action|resource)$|^listDocuments\/name$|^listInbox\/(?:assignee|search)$/,
	// Data that is sent unchanged in a URL.
	/\/query\/\*$/,
	// Searched and not stored, or indexed without its control characters.
	/^searchKnowledgeBase\/(?:query|messages\/content)$|^addDocument\/content$/,
];

interface Schema {
	type?: string | string[];
	enum?: unknown[];
	const?: unknown;
	format?: string;
	pattern?: string;
	properties?: Record<string, Schema>;
	additionalProperties?: Schema | boolean;
	items?: Schema;
	oneOf?: Schema[];
	anyOf?: Schema[];
}

/** The paths of all texts of a schema without a rule. */
function* unruly(schema: Schema, place: string): Generator<string> {
	const isText = [schema.type].flat().includes('string') && !schema.enum && schema.const === undefined;
	if (isText && !schema.format && !schema.pattern) yield place;
	for (const [name, its] of Object.entries(schema.properties ?? {})) yield* unruly(its, `${place}/${name}`);
	if (typeof schema.additionalProperties === 'object') yield* unruly(schema.additionalProperties, `${place}/*`);
	if (schema.items) yield* unruly(schema.items, place);
	for (const variant of [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) yield* unruly(variant, place);
}

test('has a rule for every text of a request, or an exception listed here with its reason', () => {
	const found: string[] = [];
	for (const [id, { body, query, multipart }] of Object.entries<Operation>(operations)) {
		for (const schema of [body, query, multipart] as (TSchema | undefined)[]) {
			if (schema) found.push(...unruly(schema as Schema, id));
		}
	}
	assert.deepEqual(
		found.filter((place) => !EXEMPT.some((exempt) => exempt.test(place))),
		[],
	);
});
