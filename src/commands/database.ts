import { systemClock, timestamp } from '../base/index.ts';
import { repairLog } from '../store/index.ts';
import type { Command } from './command.ts';
import { requireEmbedded } from './postgres.ts';

const repair: Command = {
	name: 'database repair',
	summary:
		'continue from the last change before damage of the write-ahead log; the damaged log is kept (stop the server first)',
	async run(invocation) {
		const settings = invocation.settings();
		requireEmbedded(settings, 'database repair');
		const moment = timestamp(systemClock.now()).replaceAll(/[:.]/g, '-');
		const done = await repairLog(settings.data_dir, moment);
		if (done === null) {
			invocation.print('The write-ahead log is sound. Nothing was changed.');
			return;
		}
		const { frame, commits } = done.damage;
		const what = frame === 0 ? 'The commits of the log' : `${commits} commits from frame ${frame} on`;
		invocation.print(`${what} were left out. The damaged log is kept in ${done.copy}.`);
		invocation.printInfo('The server deletes it after seven days. Run "parley doctor", and then start the server.');
	},
};

/** Commands about the database's files. */
export const databaseCommands = [repair];
