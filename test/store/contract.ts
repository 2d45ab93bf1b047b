import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { OpenedStore } from '../../src/store/index.ts';
import { commitContract } from './contract/commits.ts';
import { deliveryContract } from './contract/deliveries.ts';
import { endUserContract } from './contract/end-users.ts';
import { erasureContract } from './contract/erasure.ts';
import { eventContract } from './contract/events.ts';
import { idempotencyContract } from './contract/idempotency.ts';
import { inboxContract } from './contract/inbox.ts';
import { inboxSearchContract } from './contract/inbox-search.ts';
import { jobContract } from './contract/jobs.ts';
import { lifeContract } from './contract/life.ts';
import { listContract } from './contract/lists.ts';
import { sourceContract } from './contract/sources.ts';
import { spendingContract } from './contract/spending.ts';
import { statisticsContract } from './contract/statistics.ts';
import { unansweredContract } from './contract/unanswered.ts';

/**
 * Registers the tests that every implementation of the store must pass. Most share one store and use their own ids; tests of
 * opening and closing open their own stores.
 */
export function storeContract(open: (place: string) => Promise<OpenedStore>): void {
	let place: string;
	let store: OpenedStore;
	before(async () => {
		place = await mkdtemp(join(tmpdir(), 'parley-store-'));
		store = await open(place);
	});
	after(async () => {
		await store[Symbol.asyncDispose]();
		await rm(place, { recursive: true });
	});
	commitContract(() => store);
	eventContract(() => store);
	jobContract(() => store);
	idempotencyContract(() => store);
	listContract(() => store);
	deliveryContract(open);
	erasureContract(() => store);
	sourceContract(() => store);
	endUserContract(() => store);
	spendingContract(() => store);
	inboxContract(() => store);
	inboxSearchContract(() => store);
	statisticsContract(() => store);
	unansweredContract(() => store);
	lifeContract(open);
}
