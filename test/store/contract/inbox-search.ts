import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { InboxFilter, ListPosition, SearchTerm, Store, Write } from '../../../src/store/index.ts';
import { message } from '../samples.ts';
import { projectInbox } from './inbox.ts';
import { addTalks, eventAbout, talk } from './talks.ts';

const AT = Date.UTC(2026, 10, 20, 12);
const DAY = 86_400_000;
const reader = { id: newId('user'), readBefore: 0 };

const word = (text: string): SearchTerm => ({ text, isPrefix: false });
const beginning = (text: string): SearchTerm => ({ text, isPrefix: true });

/** Messages are found by their words. */
export function inboxSearchContract(opened: () => Store): void {
	const search = async (workspaceId: string, terms: SearchTerm[], given: Partial<InboxFilter> = {}, limit = 100) => {
		const pages: string[][] = [];
		let after: ListPosition | null | undefined;
		do {
			const filter = { workspaceId, status: 'active', ...given } as const;
			const page = await opened().inbox.search(filter, terms, reader, after ?? undefined, limit);
			assert.ok(page.rows.length <= limit);
			pages.push(page.rows.map(({ message_id }) => message_id));
			after = page.next;
		} while (after !== null);
		return pages.flat();
	};
	/** Conversations with these questions, the first one the latest, days apart. */
	const add = async (workspaceId: string, texts: readonly string[], days = 0.3) => {
		const talks = texts.map((content, n) =>
			talk(workspaceId, AT - Math.round(n * days * DAY), { question: { content }, reply: { content: 'Yes.' } }),
		);
		await addTalks(opened(), talks);
		await projectInbox(opened(), 7);
		return talks;
	};
	/** Searches texts. Returns the positions of those that are found. */
	const found = async (texts: readonly string[], searches: ReadonlyArray<[SearchTerm[], number[]]>) => {
		const workspaceId = newId('workspace');
		const talks = await add(workspaceId, texts);
		for (const [terms, expected] of searches) {
			const ids = await search(workspaceId, terms);
			const positions = ids.map((id) => talks.findIndex(({ question }) => question.id === id));
			assert.deepEqual(positions, expected, JSON.stringify(terms));
		}
	};

	test('finds messages with all of the words, the newest first, without regard to case and marks', async () => {
		await found(
			[
				'The KETTLE, is it steel?',
				'Kettle of café crème',
				'Ist der Straßenpreis Ölkessel?',
				'kettles',
				'A kettle-steel mix',
			],
			[
				[[word('kettle')], [0, 1, 4]],
				[
					[word('Kettle'), word('STEEL')],
					[0, 4],
				],
				[[word('kettle'), word('wood')], []],
				[[word('cafe'), word('crème')], [1]],
				[[word('strassenpreis')], []],
				[[word('straßenpreis'), word('olkessel')], [2]],
				[[word('olkessel')], [2]],
				[[beginning('kettl')], [0, 1, 3, 4]],
				[[word('kettl')], []],
				[[word('it'), beginning('ste')], [0]],
			],
		);
	});

	test('finds words that follow each other as phrases, also with other characters between them', async () => {
		await found(
			['order number 149', 'number of order 149', 'Order-Number: 1490', 'the order number is 149', 'order  number\n14'],
			[
				[[word('order number')], [0, 2, 3, 4]],
				[[word('number 149')], [0]],
				[[beginning('number 149')], [0, 2]],
				[[beginning('order number 14')], [0, 2, 4]],
				[[word('order.number')], [0, 2, 3, 4]],
				[[word('149 order')], []],
				[[word('rder number')], []],
				[
					[word('order number'), word('149')],
					[0, 3],
				],
				[[word('"order" number')], [0, 2, 3, 4]],
			],
		);
	});

	test('finds runs of characters of scripts without spaces between words', async () => {
		await found(
			['返品の期限はいつですか', '期限の返品', 'การจัดส่งสินค้า', '배송이 언제 되나요', 'iPhoneの返品'],
			[
				[[word('返品')], [0, 1, 4]],
				[[word('返品の期限')], [0]],
				[[beginning('期限')], [0, 1]],
				[[word('品返')], []],
				[[word('จัดส่ง')], [2]],
				[[word('배송')], [3]],
				[[word('iphone')], [4]],
				[
					[word('期限'), word('返品')],
					[0, 1],
				],
			],
		);
	});

	test('finds only messages of the workspace, whatever the search looks like', async () => {
		const [one, other] = [newId('workspace'), newId('workspace')];
		const [made] = await add(one, ['A secret kettle']);
		await add(other, ['A secret kettle']);
		assert.deepEqual(await search(one, [word('secret')]), [made?.question.id]);
		for (const text of [
			one,
			other,
			one.replace('_', ''),
			made?.id as string,
			'ws',
			'_',
			"'",
			'\\',
			'"',
			'a" OR "kettle',
			'\0',
		]) {
			assert.deepEqual(await search(one, [word(text)]), [], text);
			assert.deepEqual(await search(other, [word(text), beginning('secre')]), [], text);
		}
		for (const text of ['ws', '_', one, '1/']) assert.deepEqual(await search(one, [beginning(text)]), [], text);
	});

	test('a conversation is found once, with its newest message that matches, on whatever page', async () => {
		const workspaceId = newId('workspace');
		const talks = await add(
			workspaceId,
			Array.from({ length: 7 }, (_, n) => `kettle ${n}`),
		);
		const older = talks.map(({ id, record }, n) => {
			const base = { workspace_id: workspaceId, conversation_id: id, seq: 3, content: 'An old kettle' };
			const record_ = message({ ...base, created_at: AT - (20 + n * 3) * DAY });
			return { record: record_, event: eventAbout(record, 'message.created', record_, AT) };
		});
		await opened().commit({
			write: older.map(({ record }): Write => ({ op: 'insert', kind: 'messages', record })),
			events: older.map(({ event }) => event),
		});
		await projectInbox(opened());
		const newest = talks.map(({ question }) => question.id);
		for (const limit of [1, 2, 3, 7, 100]) {
			assert.deepEqual(await search(workspaceId, [word('kettle')], {}, limit), newest, `pages of ${limit}`);
		}
		assert.deepEqual(
			await search(workspaceId, [word('old')]),
			older.map(({ record }) => record.id),
		);
	});

	test('finds messages of every age, the newest first, page by page', async () => {
		const workspaceId = newId('workspace');
		const days = [0, 0.5, 1, 3, 15, 17, 31, 200, 255, 300, 600, 2_000, 5_000];
		const talks = days.map((age) => talk(workspaceId, AT - age * DAY, { question: { content: 'A rare word' } }));
		await addTalks(opened(), talks);
		await projectInbox(opened());
		const newest = talks.map(({ question }) => question.id);
		for (const limit of [1, 4, 100]) assert.deepEqual(await search(workspaceId, [word('rare')], {}, limit), newest);
	});

	test('finds more messages than one step reads', async () => {
		const workspaceId = newId('workspace');
		const talks = Array.from({ length: 600 }, (_, n) =>
			talk(workspaceId, AT - n * 1_000, {
				question: { content: 'frequent' },
				reply: { content: '' },
				assignee_id: n === 550 ? 'user_1' : null,
			}),
		);
		for (let from = 0; from < 600; from += 200) await addTalks(opened(), talks.slice(from, from + 200));
		await projectInbox(opened(), 1_000);
		const newest = talks.map(({ question }) => question.id);
		assert.deepEqual(await search(workspaceId, [word('frequent')], {}, 100), newest);
		assert.deepEqual(await search(workspaceId, [word('frequent')], { assigneeId: 'user_1' }, 10), [newest[550]]);
	});

	test('rows that a filter does not want are left out', async () => {
		const workspaceId = newId('workspace');
		const talks = [
			talk(workspaceId, AT, { status: 'archived' }),
			talk(workspaceId, AT - 1, { deployment_id: 'dep_1' }),
			talk(workspaceId, AT - 2, { reply: { feedback: 'down' } }),
		] as const;
		await addTalks(opened(), talks);
		await projectInbox(opened());
		const wanted = async (given: Partial<InboxFilter>) => search(workspaceId, [word('cost')], given);
		assert.deepEqual(await wanted({}), [talks[1].question.id, talks[2].question.id]);
		assert.deepEqual(await wanted({ status: 'archived' }), [talks[0].question.id]);
		assert.deepEqual(await wanted({ deploymentId: 'dep_1' }), [talks[1].question.id]);
		assert.deepEqual(await wanted({ isRatedDown: true }), [talks[2].question.id]);
	});

	test('replies that failed or are not finished are not found, nor removed messages', async () => {
		const workspaceId = newId('workspace');
		const replies = (['failed', 'in_progress', 'stopped', 'completed'] as const).map((status) => ({
			...{ status, content: 'A tale of kettles' },
		}));
		const talks = replies.map((reply, n) => talk(workspaceId, AT - n * 2_000, { reply }));
		await addTalks(opened(), talks);
		await projectInbox(opened());
		const [stopped, completed] = talks.slice(2).map(({ reply }) => reply.id);
		assert.deepEqual(await search(workspaceId, [word('tale')]), [stopped, completed]);
		await opened().commit({ write: [{ op: 'remove', kind: 'messages', id: completed as string }] });
		assert.deepEqual(await search(workspaceId, [word('tale')]), [stopped]);
	});

	test('the beginning of a long message is found, with words of any length', async () => {
		const long = 'x'.repeat(3_000);
		const body = `${long} 期${'的'.repeat(20_000)}限 ${'filler '.repeat(1_000)}`;
		await found(
			[`${body} middle`, `${'🧭'.repeat(31_994)} inner outer`, `${long}y`],
			[
				[[word('middle')], [0]],
				[[word('的限')], [0]],
				[[word('期的的')], [0]],
				[[word('期限')], []],
				[[word('inner')], [1]],
				[[word('outer')], []],
				[[word(long)], [0]],
				[[beginning(long)], [0, 2]],
				[[word(`${long}y`)], [2]],
			],
		);
	});

	test('a message with characters that a database may not have is indexed, and the next one, too', async () => {
		await found(
			['before\0after', 'half \ud83d of a pair', 'another'],
			[
				[[word('before')], [0]],
				[[word('pair')], [1]],
				[[word('another')], [2]],
			],
		);
	});

	test('an inbox that is filled from stored messages equals the inbox that grew with them', async () => {
		const workspaceId = newId('workspace');
		await add(
			workspaceId,
			Array.from({ length: 30 }, (_, n) => `Parcel number ${n}`),
		);
		const read = async () => {
			const filter = { workspaceId, status: 'active' } as const;
			const { rows } = await opened().inbox.list(filter, reader, undefined, 100);
			return [
				rows.map((row) => ({ ...row })),
				await search(workspaceId, [word('parcel')]),
				await search(workspaceId, [word('number 7')]),
			];
		};
		const grown = await read();
		assert.deepEqual(
			grown.map(({ length }) => length),
			[30, 30, 1],
		);
		await opened().commit({ write: [{ op: 'inbox.rebuild' }] });
		assert.deepEqual(await read(), [[], [], []]);
		assert.equal((await opened().inbox.progress()).isFilled, false);
		await projectInbox(opened(), 50);
		assert.deepEqual(await read(), grown);
	});
}
