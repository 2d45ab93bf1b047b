import { decideAndCommit } from '../store/index.ts';
import type { Command } from './command.ts';
import { withExclusiveStore } from './data-folder.ts';

const rebuild: Command = {
	name: 'rebuild',
	summary: 'count the statistics and fill the inbox and its search again at the next start (stop the server first)',
	async run(invocation) {
		// One commit: a crash leaves both or none to be derived again.
		await withExclusiveStore(invocation.settings(), (store) =>
			decideAndCommit(store, async () => ({
				commit: { write: [{ op: 'statistics.rebuild' }, { op: 'inbox.rebuild' }] },
				result: undefined,
			})),
		);
		invocation.print('The next start counts the statistics again and fills the inbox and its search again.');
		invocation.printInfo('Hours and days from which events have expired keep their figures. Start the server now.');
	},
};

/** Commands about what is derived from the event log. */
export const rebuildCommands = [rebuild];
