import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program that is on PATH; null where there is none. */
export function findProgram(name: string): string | null {
	for (const folder of (process.env.PATH ?? '').split(delimiter)) {
		const path = join(folder, name);
		try {
			accessSync(path, constants.X_OK);
			return path;
		} catch {}
	}
	return null;
}
