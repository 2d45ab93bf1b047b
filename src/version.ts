import { readFileSync } from 'node:fs';

/** The version of Parley, from its package file. */
export function version(): string {
	for (const candidate of ['./package.json', '../package.json']) {
		try {
			return (JSON.parse(readFileSync(new URL(candidate, import.meta.url), 'utf8')) as { version: string }).version;
		} catch {
			// The bundle has the file beside it; the sources are one folder below it.
		}
	}
	return '0.0.0';
}
