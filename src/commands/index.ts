import { backupCommands } from './backup.ts';
import { clusterCommands } from './cluster.ts';
import type { Command } from './command.ts';
import { databaseCommands } from './database.ts';
import { doctorCommands } from './doctor.ts';
import { healthcheckCommands } from './healthcheck.ts';
import { keyCommands } from './keys.ts';
import { migrateCommands } from './migrate.ts';
import { rebuildCommands } from './rebuild.ts';
import { secretCommands } from './secrets.ts';
import { userCommands } from './users.ts';
import { workspaceCommands } from './workspaces.ts';

export { findCommand, runCommand, UsageError, usageOf } from './command.ts';
export { terminalLines, terminalText } from './terminal-text.ts';

/** Every command except `serve`, in the order of the help. */
export const commands: readonly Command[] = [
	...keyCommands,
	...userCommands,
	...workspaceCommands,
	...secretCommands,
	...backupCommands,
	...rebuildCommands,
	...databaseCommands,
	...migrateCommands,
	...clusterCommands,
	...doctorCommands,
	...healthcheckCommands,
];
