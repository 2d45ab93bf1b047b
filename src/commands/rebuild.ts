import { decideAndCommit, requireCommitted, type Store, type Write } from '../store/index.ts';
import type { Command } from './command.ts';
import { withExclusiveStore, withStore } from './data-folder.ts';

const rebuild: Command = {
	name: 'rebuild',
	summary:
		'count the statistics and fill the inbox and its search again at the next start (stop the server first); on PostgreSQL it does this itself, beside the nodes',
	async run(invocation) {
		const settings = invocation.settings();
		if (settings.database_url !== undefined) {
			await withStore(settings, rebuildNow);
			invocation.print('The statistics were counted again, and the inbox and its search were filled again.');
			invocation.printInfo('Hours and days from which events have expired keep their figures.');
			return;
		}
		await withExclusiveStore(settings, orderRebuild);
		invocation.print('The next start counts the statistics again and fills the inbox and its search again.');
		invocation.printInfo('Hours and days from which events have expired keep their figures. Start the server now.');
	},
};

/** Of one commit. It bounds for how long the commits of servers wait. */
const BATCH_EVENTS = 500;

/** The servers would begin with the next event. After a crash of the command they go on with that. */
async function rebuildNow(store: Store): Promise<void> {
	await orderRebuild(store);
	const target = await store.events.lastSeq();
	for (;;) {
		const { seq, isFilled } = await store.inbox.progress();
		const isCounted = (await store.statistics.position()) >= target;
		if (seq >= target && isFilled && isCounted) return;
		const write: Write[] = [
			{ op: 'inbox.project', limit: BATCH_EVENTS },
			{ op: 'statistics.project', limit: BATCH_EVENTS },
		];
		requireCommitted(await store.commit({ write }));
	}
}

/** One commit: a crash leaves both or none to be derived again. */
function orderRebuild(store: Store): Promise<void> {
	return decideAndCommit(store, async () => ({
		commit: { write: [{ op: 'statistics.rebuild' }, { op: 'inbox.rebuild' }] },
		result: undefined,
	}));
}

/** Commands about what is derived from the event log. */
export const rebuildCommands = [rebuild];
