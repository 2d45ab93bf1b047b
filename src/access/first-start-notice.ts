import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fsyncFolder } from '../base/index.ts';
import { FIRST_OWNER, type FirstStartSecrets, passwordLink } from './first-start.ts';

/** The console of the operator who starts the server. */
export interface OperatorConsole {
	/** Whether it is a terminal; otherwise the output may be kept in a log. */
	isTerminal: boolean;
	/** Whether secrets are printed where it is not a terminal. */
	printsKey: boolean;
	print(line: string): void;
}

export interface FirstStartNoticeOptions {
	dataDir: string;
	console: OperatorConsole;
	/** Whether the operator configured the key, and so knows it. */
	keyIsGiven: boolean;
	/** The server's own address, as browsers see it. */
	address: string;
}

/** The file that keeps the first key and the link for the first password for the operator. */
export function firstStartFile(dataDir: string): string {
	return join(dataDir, 'first-start.txt');
}

/**
 * Shows the operator once what the first start has created. It is written to a file before it is stored, so that a crash in
 * between loses nothing. On a terminal it is printed, and the file is removed.
 */
export class FirstStartNotice {
	readonly #options: FirstStartNoticeOptions;
	#lines: string[] = [];

	constructor(options: FirstStartNoticeOptions) {
		this.#options = options;
	}

	/** Writes the file durably; only its owner can read it. */
	async save({ key, passwordToken }: FirstStartSecrets): Promise<void> {
		const { dataDir, keyIsGiven, address } = this.#options;
		this.#lines = [
			...(keyIsGiven ? [] : [`API key:   ${key}`, '           This key is shown only now. Keep it.']),
			`Password:  ${passwordLink(address, passwordToken)}`,
			`           sets the password of ${FIRST_OWNER}, once, within a day. "parley users reset-password ${FIRST_OWNER}" makes another link.`,
		];
		const path = firstStartFile(dataDir);
		const temporary = `${path}.${randomUUID()}.tmp`;
		try {
			const file = await open(temporary, 'wx', 0o600);
			try {
				await file.writeFile(`${[...this.#lines, '', 'Delete this file when you have read it.'].join('\n')}\n`);
				await file.sync();
			} finally {
				await file.close();
			}
			// Replaces the file of a start that crashed before it stored anything.
			await rename(temporary, path);
		} finally {
			await rm(temporary, { force: true });
		}
		await fsyncFolder(dataDir);
	}

	/** Prints the notice. Call it after the commit. */
	async print(): Promise<void> {
		const { dataDir, console } = this.#options;
		const path = firstStartFile(dataDir);
		if (console.isTerminal || console.printsKey) for (const line of this.#lines) console.print(line);
		if (console.isTerminal) await rm(path, { force: true });
		else console.print(`First start: ${path} holds what you need to sign in. Delete it when you have read it.`);
	}

	/** Reminds the operator of a file that an earlier start has left. */
	async remind(): Promise<void> {
		const path = firstStartFile(this.#options.dataDir);
		const exists = await stat(path).then(
			() => true,
			() => false,
		);
		if (exists)
			this.#options.console.print(`Delete ${path} when you have read it: it holds secrets of the first start.`);
	}
}
