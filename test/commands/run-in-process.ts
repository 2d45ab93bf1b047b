import { join } from 'node:path';
import { messageOf } from '../../src/base/index.ts';
import { commands, findCommand, runCommand } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import type { PostgresServer } from '../support/postgres.ts';

/** The end of a command: its error, if any, and what it wrote. */
export interface Finished {
	out: string[];
	err: string[];
	/** The sentence of its error; null: it succeeded. */
	problem: string | null;
}

/** Runs a command in this process. */
export async function runInProcess(env: Record<string, string>, ...args: string[]): Promise<Finished> {
	const command = findCommand(commands, args);
	if (command === undefined) throw new Error(`There is no command ${args.join(' ')}.`);
	const finished: Finished = { out: [], err: [], problem: null };
	const settings = () => loadConfig({ env, file: join(import.meta.dirname, 'no-such-file.json') });
	try {
		await runCommand(command, args, {
			settings,
			print: (line) => void finished.out.push(line),
			printInfo: (line) => void finished.err.push(line),
		});
	} catch (error) {
		finished.problem = messageOf(error);
	}
	return finished;
}

/** The URL of a database as the settings accept it: they require a host, which the folder of the socket replaces. */
export async function databaseUrl(server: PostgresServer, name: string): Promise<string> {
	return (await server.database(name)).replace('@/', '@localhost/');
}
