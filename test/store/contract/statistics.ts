import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { FigureQuery, FigureSum, Store, Write } from '../../../src/store/index.ts';
import { document, workspace } from '../samples.ts';
import { addTalks, eventAbout, talk } from './talks.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Long before the events of other contracts, so that their events do not expire with these. */
const START = Date.UTC(2021, 10, 1, 9);
const TALKS = 12;

/** Figures are counted from the log, each event once. */
export function statisticsContract(opened: () => Store): void {
	const commit = async (...write: Write[]) => {
		assert.equal((await opened().commit({ write })).outcome, 'committed');
	};
	const project = (limit: number) => commit({ op: 'statistics.project', limit });
	const projectAll = async (limit = 100) => {
		const target = await opened().events.lastSeq();
		while ((await opened().statistics.position()) < target) await project(limit);
	};

	const sums = async (workspaceId: string, series: FigureQuery['series'], filter = {}) => {
		const found: FigureSum[] = [];
		const query = { workspaceId, series, from: START - (START % DAY), to: START + 90 * DAY, ...filter };
		for await (const part of opened().statistics.figures(query)) found.push(...part);
		return found.filter(({ value }) => value !== 0).map((sum) => [sum.start, sum.figure, sum.key, sum.value] as const);
	};
	/** All figures of a workspace, in an order. */
	const figuresOf = async (workspaceId: string) => {
		const all = await Promise.all((['hour', 'day', 'document'] as const).map((series) => sums(workspaceId, series)));
		return all.map((each) => each.map(String).sort());
	};

	/** Conversations over several days: one question and reply each, ratings, takeovers. */
	const addLog = async (workspaceId: string, documentId = newId('document')) => {
		const kinds = ['documents', 'none', 'tools', 'model'] as const;
		const talks = Array.from({ length: TALKS }, (_, n) => {
			const at = START + n * 0.4 * DAY;
			const answered_by = kinds[n % 4] as (typeof kinds)[number];
			const cited = { index: 1, document_id: documentId, title: '', url: null, page: null, text: '', score: 1 };
			const made = talk(workspaceId, at, {
				deployment_id: `dep_${n % 2}`,
				question: { content: `Question ${n}?` },
				reply: {
					answered_by,
					citations: answered_by === 'documents' ? [cited, cited] : [],
					...{
						model: 'm',
						usage: { input_tokens: 10, output_tokens: n },
						first_token_ms: 10 * n,
						duration_ms: 100 * n,
					},
				},
			});
			const rating = { before: null, after: n % 3 === 0 ? 'up' : 'down', rated_at: at };
			made.events.push(eventAbout(made.record, 'message.rated', rating, at));
			if (n % 5 === 0) made.events.push(eventAbout(made.record, 'conversation.taken_over', {}, at));
			return made;
		});
		await addTalks(opened(), talks);
		return talks;
	};

	test('figures are the sums of what the events say, by hour and day, with filters', async () => {
		const workspaceId = newId('workspace');
		const record = document({ workspace_id: workspaceId });
		await commit({ op: 'insert', kind: 'documents', record });
		await addLog(workspaceId, record.id);
		await projectAll();
		const total = async (series: FigureQuery['series'], filter = {}) => {
			const by = new Map<string, number>();
			for (const [, figure, key, value] of await sums(workspaceId, series, filter)) {
				by.set(`${figure} ${key}`, (by.get(`${figure} ${key}`) ?? 0) + value);
			}
			return (name: string) => by.get(name) ?? 0;
		};
		for (const series of ['hour', 'day'] as const) {
			const of = await total(series);
			const counts = ['conversations ', 'messages visitor', 'messages model', 'replies m', 'takeovers '].map(of);
			assert.deepEqual(counts, [12, 12, 12, 12, 3]);
			const answers = ['documents', 'none', 'tools', 'model', 'human'].map((key) => of(`answers ${key}`));
			assert.deepEqual(answers, [3, 3, 3, 3, 0]);
			assert.deepEqual(['input_tokens m', 'output_tokens m'].map(of), [120, 66]);
			assert.deepEqual(['feedback up', 'feedback down'].map(of), [4, 8]);
		}
		assert.equal((await total('document'))(`cited ${record.id}`), 3, 'two citations of a reply are one');
		const first = await total('day', { deploymentId: 'dep_0' });
		assert.deepEqual(['conversations ', 'output_tokens m'].map(first), [6, 30]);
		assert.equal((await total('day', { assistantId: 'asst_other' }))('conversations '), 0);
		const firstDay = await sums(workspaceId, 'day', { to: START - (START % DAY) + DAY });
		assert.deepEqual(
			firstDay.filter(([, figure]) => figure === 'conversations').map(([start, , , value]) => [start, value]),
			[[START - (START % DAY), 2]],
		);
	});

	test('figures do not depend on how many events are counted at once, and the last event is counted', async () => {
		const [one, many] = [newId('workspace'), newId('workspace')];
		const documentId = newId('document');
		await addLog(one, documentId);
		await projectAll(1);
		await addLog(many, documentId);
		await projectAll(7);
		assert.ok((await figuresOf(one)).flat().length > 100);
		assert.deepEqual(await figuresOf(many), await figuresOf(one));
		assert.equal(await opened().statistics.position(), await opened().events.lastSeq());
	});

	test('a document is cited once a reply has cited it, if it existed when the reply was counted', async () => {
		const knowledge_base_id = newId('knowledge_base');
		const workspaceId = newId('workspace');
		const documents = [1, 2, 3].map((n) =>
			document({ knowledge_base_id, status: 'indexed', created_at: n, title: `${n}` }),
		);
		const [cited, other, gone] = documents as [(typeof documents)[0], (typeof documents)[0], (typeof documents)[0]];
		await commit(...documents.map((record): Write => ({ op: 'insert', kind: 'documents', record })));
		await commit({ op: 'remove', kind: 'documents', id: gone.id });
		await addLog(workspaceId, cited.id);
		await addLog(workspaceId, gone.id);
		await projectAll();
		const list = (after?: { at: number; id: string }, limit = 10) =>
			opened().statistics.citedDocuments(knowledge_base_id, after, limit);
		const rows = [
			{ id: cited.id, title: '1', created_at: 1, isCited: true },
			{ id: other.id, title: '2', created_at: 2, isCited: false },
		];
		assert.deepEqual(await list(), rows);
		assert.deepEqual(await list(undefined, 1), rows.slice(0, 1));
		assert.deepEqual(await list({ at: 1, id: cited.id }), rows.slice(1));
		await commit({ op: 'insert', kind: 'documents', record: gone });
		assert.equal((await list()).at(-1)?.isCited, false, 'it was no document when the reply was counted');
	});

	test('figures by hour are removed after 60 days, at most the limit, and those by day are kept', async () => {
		const record = workspace();
		await commit({ op: 'insert', kind: 'workspaces', record });
		await addLog(record.id);
		await projectAll();
		const rows = async () => Promise.all([sums(record.id, 'hour'), sums(record.id, 'day')]);
		const [hours, days] = await rows();
		await commit({ op: 'statistics.trim', now: START + 59 * DAY, limit: 10_000 });
		assert.deepEqual(await rows(), [hours, days]);
		await commit({ op: 'statistics.trim', now: START + 62 * DAY, limit: 3 });
		assert.equal((await rows())[0].length, hours.length - 3);
		await commit({ op: 'statistics.trim', now: START + 100 * DAY, limit: 10_000 });
		assert.deepEqual(await rows(), [[], days]);
	});

	test('erased conversations keep their counts, whether they were counted before or not, and a rebuild counts them, too', async () => {
		const documentId = newId('document');
		const [untouched, touched] = [newId('workspace'), newId('workspace')];
		await addLog(untouched, documentId);
		await projectAll();
		const expected = await figuresOf(untouched);
		const talks = await addLog(touched, documentId);
		await project(20);
		// The first is counted, the second is not, and of the third some events are.
		for (const n of [1, 9, 4]) await commit({ op: 'erase_conversation', id: talks[n]?.id as string });
		await projectAll();
		assert.deepEqual(await figuresOf(touched), expected);
		await commit({ op: 'statistics.rebuild' });
		assert.equal(await opened().statistics.position(), 0);
		await projectAll();
		assert.deepEqual(await figuresOf(touched), expected);
		assert.deepEqual(await figuresOf(untouched), expected);
	});

	test('the position reaches the end of the log although its last events were erased', async () => {
		const talks = await addLog(newId('workspace'));
		await projectAll();
		const erased = await addLog(newId('workspace'));
		for (const { id } of [...erased, ...talks]) await commit({ op: 'erase_conversation', id });
		await project(1_000);
		assert.equal(await opened().statistics.position(), await opened().events.lastSeq());
	});

	test('a rebuild gives the same figures, also where the oldest events have expired', async () => {
		const workspaceId = newId('workspace');
		await addLog(workspaceId);
		await projectAll();
		const expected = await figuresOf(workspaceId);
		const rebuild = async () => {
			await commit({ op: 'statistics.rebuild' });
			await project(5);
			const position = await opened().statistics.position();
			// A second request while it runs changes nothing.
			await commit({ op: 'statistics.rebuild' });
			assert.equal(await opened().statistics.position(), position);
			await projectAll();
		};
		await rebuild();
		assert.deepEqual(await figuresOf(workspaceId), expected);
		await commit({ op: 'erase_events', before: START + 2 * DAY, limit: 10_000 });
		await rebuild();
		assert.deepEqual(await figuresOf(workspaceId), expected);
		await addLog(workspaceId);
		await projectAll();
		const messages = (await sums(workspaceId, 'day')).filter(
			([, figure, key]) => `${figure} ${key}` === 'messages model',
		);
		assert.equal(
			messages.reduce((sum, [, , , value]) => sum + value, 0),
			2 * TALKS,
			'new events are counted, also those of days that are no more counted again',
		);
	});
}
