import { isSingleLine } from '../contract/index.ts';
import { type Invocation, UsageError } from './command.ts';

const MAX_NAME = 200;

/** The option `--name`, with the same rules as in the API. */
export function nameOption(invocation: Invocation): string | undefined {
	const name = invocation.option('name');
	if (name !== undefined) requireName(name);
	return name;
}

/** @throws UsageError */
export function requireName(name: string): void {
	if ([...name].length <= MAX_NAME && isSingleLine(name)) return;
	throw new UsageError(`A name is one line of 1 to ${MAX_NAME} characters: not blank, and without control characters.`);
}
