import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Notices } from '../../src/outbox/index.ts';

const notice = (subject: string, data: unknown) => ({ type: 'document.updated', subject, data }) as const;

/** Opens a subscription and counts how often it becomes readable. */
function follow(notices: Notices, workspace: string) {
	const source = notices.subscribe(workspace);
	let wakes = 0;
	source.open({ onReadable: () => wakes++ });
	return {
		source,
		wakes: () => wakes,
		taken() {
			const all: unknown[] = [];
			for (let next = source.read(); next !== null; next = source.read()) all.push(next.data);
			return all;
		},
	};
}

test('a follower gets the notices of its workspace, and of one subject only the last that waits', () => {
	const notices = new Notices();
	const follower = follow(notices, 'ws_1');
	notices.publish('ws_1', notice('doc_1', 'queued'));
	notices.publish('ws_2', notice('doc_9', 'of another workspace'));
	notices.publish('ws_1', notice('doc_2', 'queued'));
	notices.publish('ws_1', notice('doc_1', 'indexed'));
	assert.equal(follower.wakes(), 3);
	assert.deepEqual(follower.taken(), ['indexed', 'queued']);
	notices.publish('ws_1', notice('doc_1', 'removed'));
	assert.deepEqual(follower.taken(), ['removed']);
});

test('says whether anybody follows, and forgets a follower that has left', () => {
	const notices = new Notices();
	let changes = 0;
	notices.onFollowersChange(() => changes++);
	const follower = follow(notices, 'ws_1');
	assert.deepEqual(
		[notices.isFollowed, notices.hasFollowers('ws_1'), notices.hasFollowers('ws_2')],
		[true, true, false],
	);
	void follower.source.close();
	void follower.source.close();
	assert.deepEqual([notices.isFollowed, changes], [false, 2]);
	notices.publish('ws_1', notice('doc_1', 'queued'));
	assert.equal(follower.source.read(), null);
	assert.equal(follower.source.isEnded, true);
});

test('a follower that reads nothing is ended, and holds nothing any more', () => {
	const notices = new Notices();
	const follower = follow(notices, 'ws_1');
	for (let at = 0; at < 5_000; at++) notices.publish('ws_1', notice(`doc_${at}`, at));
	assert.throws(() => follower.source.read(), { code: 'unavailable' });
	assert.equal(notices.isFollowed, false);
});
