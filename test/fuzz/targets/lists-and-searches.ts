import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createApiFixture, createResource } from '../../api/fixture.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { type ByteEdit, byteEdit, editBytes } from '../mutations/bytes.ts';
import type { FuzzTarget } from '../target.ts';

/** A cursor of a list, changed, and the list that it is sent to. */
interface CursorInput {
	list: number;
	to: number;
	order: 'asc' | 'desc' | '';
	/** A cursor that is not made from a real one; null: the changes apply to a real one. */
	text: string | null;
	changes: ByteEdit[];
}

const LISTS = [
	'/api/v1/assistants',
	'/api/v1/deployments',
	'/api/v1/knowledge-bases',
	'/api/v1/conversations',
	'/api/v1/canned-replies',
	'/api/v1/events',
	'/api/v1/inbox',
];
const ITEMS = 3;

const CURSORS = [
	'',
	' ',
	'null',
	'0',
	'-1',
	'AAAA',
	'====',
	'\0',
	'%',
	'../',
	"' OR 1=1 --",
	'e30',
	'WzEsMl0',
	'A'.repeat(3_000),
	'\ud83d\ude00',
	'undefined',
];

/** Answers of the API to a request that is not right: the documented envelope, never a failure of the server. */
function checkAnswer({ status, body }: { status: number; body: unknown }): void {
	assert.ok(status === 200 || (status >= 400 && status < 500), `status ${status}: ${JSON.stringify(body)}`);
	if (status !== 200) assert.equal(typeof (body as { error: { code: string } }).error.code, 'string');
}

/** Cursors of every list: changed, made up, or of another list. Only the list's own cursor is accepted. */
export const cursors: FuzzTarget<CursorInput> = {
	name: 'cursors',
	skip: false,
	shortRuns: 150,
	deadlineMs: 120_000,
	inputs: fc.record({
		list: fc.nat(LISTS.length - 1),
		to: fc.nat(LISTS.length - 1),
		order: fc.constantFrom('asc', 'desc', ''),
		text: fc.option(
			fc.oneof(fc.constantFrom(...CURSORS), fc.string({ unit: 'binary', maxLength: 60 }), fc.base64String()),
		),
		changes: fc.oneof(
			{ weight: 1, arbitrary: fc.constant<ByteEdit[]>([]) },
			{ weight: 2, arbitrary: fc.array(byteEdit, { maxLength: 2 }) },
		),
	}),
	async open() {
		const app = await startTestApp();
		await fill(app);
		const real = await Promise.all(
			LISTS.map(async (path) => String((await app.call('GET', `${path}?limit=1`)).body.next_cursor ?? '')),
		);
		assert.ok(
			real.every((cursor) => cursor !== ''),
			`each list has a second page: ${real}`,
		);
		return {
			async run({ list, to, order, text, changes }) {
				const original = real[list] ?? '';
				const bytes = changes.reduce<Buffer>(editBytes, Buffer.from(original));
				const cursor = text ?? bytes.toString('latin1');
				const query = new URLSearchParams({ limit: '2', cursor, ...(order === '' ? {} : { order }) });
				const answer = await app.call('GET', `${LISTS[to]}?${query}`);
				checkAnswer(answer);
				const isOwn = cursor === real[to] && original !== '' && order === '';
				if (isOwn) assert.equal(answer.status, 200, JSON.stringify(answer.body));
				// The log of events has cursors of its own kind, which are also accepted behind its end.
				else if (answer.status === 200 && LISTS[to] !== '/api/v1/events' && order === '')
					assert.equal(cursor, real[to], 'a forged cursor');
			},
			[Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
		};
	},
};

/** Some items in every list. */
async function fill(app: TestApp): Promise<string> {
	const { deployment, knowledgeBase, assistant } = await createApiFixture(app, {
		model: 'builtin/extractive',
		texts: ['The kettle has a lid of brass. It boils in "two" minutes.', 'Größe und 日本 are words, and so is C++.'],
	});
	for (let at = 0; at < ITEMS; at++) {
		await createResource(app, '/api/v1/assistants', { name: `Number ${at}` });
		await createResource(app, '/api/v1/knowledge-bases', { name: `Number ${at}` });
		await createResource(app, '/api/v1/deployments', { assistant_id: assistant });
		await createResource(app, '/api/v1/canned-replies', { shortcut: `number${at}`, content: 'Hello.' });
		await app.call('POST', '/api/v1/messages', {
			deployment_id: deployment,
			content: `What is the lid made of? ${at}`,
		});
	}
	await until(
		'the inbox lists the conversations',
		async () => (await app.call('GET', '/api/v1/inbox')).body.data.length >= ITEMS,
	);
	return knowledgeBase;
}

/** Pieces of queries that mean something to a full-text index, to SQL or to a splitter of words. */
const PIECES = [
	...[
		'kettle',
		'lid',
		'Größe',
		'日本',
		'C++',
		'a',
		' ',
		'  ',
		'"',
		'""',
		"'",
		'*',
		'^',
		'(',
		')',
		'{',
		'}',
		'[',
		']',
		':',
		'-',
		'+',
		'~',
		'\\',
		'/',
		'%',
		'_',
	],
	...[
		'AND',
		'OR',
		'NOT',
		'NEAR',
		'NEAR/2',
		'text:',
		'rowid',
		'-kettle',
		'kettle*',
		'"kettle lid"',
		'"kettle',
		"'; DROP TABLE messages; --",
		'\0',
		'\ud83d\ude00',
		'\u202e',
	],
	...['\u200b', '\n', '\t', 'é', 'e\u0301', 'ﬁ', 'İ', 'ß', '\u{10ffff}', 'x'.repeat(300), '1e9', '0x1', 'null'],
];
const query = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 14 }).map((pieces) => pieces.join('')),
	},
	{
		weight: 2,
		arbitrary: fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 14 }).map((pieces) => pieces.join(' ')),
	},
	{ weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
);

/** Queries of the inbox and of knowledge bases. Each is answered, with hits or as wrong. */
export const searchQueries: FuzzTarget<string> = {
	name: 'search-queries',
	skip: false,
	shortRuns: 80,
	deadlineMs: 120_000,
	inputs: query,
	async open() {
		const app = await startTestApp();
		const knowledgeBase = await fill(app);
		const search = (text: string) =>
			Promise.all([
				app.call('GET', `/api/v1/inbox?${new URLSearchParams({ search: text })}`),
				app.call('POST', `/api/v1/knowledge-bases/${knowledgeBase}/search`, { query: text, top_k: 3 }),
			]);
		for (const { status, body } of await search('kettle')) assert.equal(status, 200, JSON.stringify(body));
		return {
			async run(text) {
				for (const answer of await search(text)) checkAnswer(answer);
			},
			[Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
		};
	},
};
