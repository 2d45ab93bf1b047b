import { parseArgs } from 'node:util';
import { messageOf } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { terminalText } from './terminal-text.ts';

/** The arguments and outputs of a command. */
export interface Invocation {
	/** The words after the command's name, one for each of its `words`. */
	positionals: readonly string[];
	/** The value of an option; undefined when it was not given. */
	option(name: string): string | undefined;
	/** All values of an option that may be given several times. */
	options(name: string): string[];
	/** Whether a flag was given. */
	flag(name: string): boolean;
	/** The settings, loaded on first use, because some commands need none. */
	settings(): Settings;
	/** Writes a line of output to standard output. */
	print(line: string): void;
	/** Writes a line for people to standard error. */
	printInfo(line: string): void;
}

/** One command of the command line. */
export interface Command {
	/** For example `keys create`. */
	name: string;
	/** The words after the name, in this order: `['EMAIL']`. */
	positionals?: readonly string[];
	/** Its options, each with the name of its value; `…` after the name: the option may be repeated. */
	options?: Readonly<Record<string, string>>;
	/** Its options without a value: `['yes']`. */
	flags?: readonly string[];
	/** A description in one line. */
	summary: string;
	run(given: Invocation): Promise<void> | void;
}

/** A wrong command line. The message shows the usage. */
export class UsageError extends Error {
	override readonly name = 'UsageError';
}

/** The command that the arguments name. */
export function findCommand(commands: readonly Command[], args: readonly string[]): Command | undefined {
	return commands.find(({ name }) => name.split(' ').every((word, at) => args[at] === word));
}

/** The usage of a command. */
export function usageOf({ name, positionals = [], options = {}, flags = [] }: Command): string {
	const switches = flags.map((flag) => `[--${flag}]`);
	const optional = Object.entries(options).map(([option, value]) => `[--${option} ${value}]`);
	return [name, ...positionals, ...optional, ...switches].join(' ');
}

/**
 * Reads a command's arguments and runs it.
 * @param args all of them, its name included
 * @throws UsageError, and the errors of the command
 */
export async function runCommand(
	command: Command,
	args: readonly string[],
	context: Pick<Invocation, 'settings' | 'print' | 'printInfo'>,
): Promise<void> {
	const { positionals: expected = [] } = command;
	const { values, positionals } = parse(command, args.slice(command.name.split(' ').length));
	if (positionals.length !== expected.length) throw new UsageError(`Usage: parley ${usageOf(command)}`);
	const options = (name: string) => [values[name] ?? []].flat().map(String);
	const option = (name: string) => options(name)[0];
	const flag = (name: string) => values[name] === true;
	await command.run({ ...context, positionals, options, option, flag });
}

function parse(command: Command, args: string[]) {
	const options: Record<string, { type: 'string' | 'boolean'; multiple?: boolean }> = {};
	for (const [name, value] of Object.entries(command.options ?? {})) {
		options[name] = { type: 'string', multiple: value.endsWith('…') };
	}
	for (const name of command.flags ?? []) options[name] = { type: 'boolean' };
	// Checked here, because the library's sentence about an unknown option speaks of positional arguments.
	for (const token of parseArgs({ args, options, strict: false, tokens: true }).tokens) {
		if (token.kind !== 'option' || Object.hasOwn(options, token.name)) continue;
		throw new UsageError(`There is no option ${token.rawName}.\nUsage: parley ${usageOf(command)}`);
	}
	try {
		return parseArgs({ args, allowPositionals: true, options });
	} catch (error) {
		throw new UsageError(`${messageOf(error)}\nUsage: parley ${usageOf(command)}`);
	}
}

/** Rows with aligned columns. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
	// Escaped before the widths are measured, because an escaped character is wider.
	const shown = rows.map((row) => row.map(terminalText));
	const widths = (shown[0] ?? []).map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0)));
	return shown.map((row) =>
		row
			.map((cell, column) => cell.padEnd(widths[column] ?? 0))
			.join('  ')
			.trimEnd(),
	);
}
