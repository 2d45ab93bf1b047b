import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Log } from '../../src/base/index.ts';

/** A log of all levels, kept in memory. */
export function recordingLog(): { log: Log; text: () => string } {
	const lines: string[] = [];
	return {
		log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }) as Log,
		text: () => lines.join(''),
	};
}

/** The files below a folder that hold one of these texts. */
export async function filesContaining(folder: string, texts: readonly string[]): Promise<string[]> {
	const found: string[] = [];
	for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
		if (!entry.isFile()) continue;
		const path = join(entry.parentPath, entry.name);
		const bytes = await readFile(path);
		if (texts.some((text) => bytes.includes(text))) found.push(path);
	}
	return found;
}
