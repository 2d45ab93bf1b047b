import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/base/index.ts';
import { RunningErasures } from '../../src/conversations/running-erasures.ts';
import type { Store, Write } from '../../src/store/index.ts';
import * as samples from '../store/samples.ts';
import { openTemporaryStore } from '../support/temporary-store.ts';
import { until } from '../support/until.ts';

const store = await openTemporaryStore();

async function write(...writes: Write[]): Promise<void> {
	assert.equal((await store.commit({ write: writes })).outcome, 'committed');
}

/** A running erasure of a new end user, not stored yet. */
const erasure = (given: object = {}) =>
	samples.erasure({ status: 'erasing', end_user_id: newId('request'), visitor_key: 'v', ...given });

const begin = (record: ReturnType<typeof erasure>) => write({ op: 'insert', kind: 'erasures', record });
const end = ({ id }: { id: string }) => write({ op: 'end_erasure', id, at: 1 });

const isRefused = (running: RunningErasures, { workspace_id, end_user_id }: ReturnType<typeof erasure>): boolean => {
	try {
		void running.requireNone(workspace_id, { id: end_user_id as string, name: null, email: null });
		return false;
	} catch (error) {
		assert.equal((error as { code: string }).code, 'unavailable');
		return true;
	}
};

/** The store, which names its reads. @param isPublishing whether it tells of its commits */
function watched(isPublishing = true) {
	const reads: string[] = [];
	const watching = new Proxy(store, {
		get(target, name) {
			if (name === 'onCommits' && !isPublishing) return () => () => {};
			const value: unknown = Reflect.get(target, name, target);
			if (typeof value !== 'function') return value;
			if (name === 'get' || name === 'list') reads.push(name);
			return value.bind(target);
		},
	}) as Store;
	return { reads, watching };
}

test('an end user is refused from the first to the last commit of the erasure, without a read', async () => {
	const { reads, watching } = watched();
	using running = new RunningErasures(watching);
	const [one, other] = [erasure(), erasure()];
	assert.equal(isRefused(running, one), false);
	await begin(one);
	assert.equal(isRefused(running, one), true, 'before the caller of the commit continues');
	assert.equal(isRefused(running, other), false);
	assert.equal(isRefused(running, { ...one, workspace_id: newId('workspace') }), false, 'of another workspace');
	void running.requireNone(one.workspace_id, null);
	assert.deepEqual(reads, []);
	await end(one);
	await until('it is accepted', () => !isRefused(running, one));
	assert.deepEqual(reads, ['get'], 'of the erasure that has ended');
});

test('an erasure that cannot end yet refuses on', async () => {
	using running = new RunningErasures(store);
	const record = erasure();
	await begin(record);
	const conversation = samples.conversation({
		workspace_id: record.workspace_id,
		end_user_id: record.end_user_id as string,
	});
	await write({ op: 'insert', kind: 'conversations', record: conversation });
	await end(record);
	await running.refresh();
	assert.equal(isRefused(running, record), true);
	await write({ op: 'erase_conversation', id: conversation.id });
	await end(record);
	await until('it is accepted', () => !isRefused(running, record));
});

test('a second erasure of the end user refuses although the end of the first is noticed late', async () => {
	let answer: (() => void) | undefined;
	const slow = new Proxy(store, {
		get(target, name) {
			if (name === 'get') {
				return async (kind: 'erasures', id: string) => {
					await new Promise<void>((resolve) => {
						answer = resolve;
					});
					return target.get(kind, id);
				};
			}
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	}) as Store;
	using running = new RunningErasures(slow);
	const first = erasure();
	await begin(first);
	await end(first);
	const second = erasure({ workspace_id: first.workspace_id, end_user_id: first.end_user_id });
	await begin(second);
	answer?.();
	await running.refresh();
	assert.equal(isRefused(running, second), true);
});

test('a new process refuses the end users whose erasures the last one has left, however many they are', async () => {
	const records = Array.from({ length: 230 }, () => erasure());
	const done = samples.erasure({ status: 'done', end_user_id: null, visitor_key: null });
	await write(...[...records, done].map((record) => ({ op: 'insert', kind: 'erasures', record }) as const));
	using running = new RunningErasures(store);
	assert.equal(isRefused(running, records[0] as (typeof records)[0]), false);
	await running.refresh();
	assert.ok(records.every((record) => isRefused(running, record)));
});

test('a refresh finds what commits with lost answers have begun and ended', async () => {
	const { watching } = watched(false);
	using running = new RunningErasures(watching);
	const record = erasure();
	await begin(record);
	assert.equal(isRefused(running, record), false);
	await running.refresh();
	assert.equal(isRefused(running, record), true);
	await end(record);
	assert.equal(isRefused(running, record), true);
	await running.refresh();
	assert.equal(isRefused(running, record), false);
});
