import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** From where it is told where the binary may unpack. */
export interface UnpackFolderSources {
	env: Readonly<Record<string, string | undefined>>;
	/** The settings file, which may not be there. */
	file: string;
	/** This user's home; null where there is none. */
	home: string | null;
}

/**
 * The folders in which the binary may unpack itself, the first being tried first: the one that is set and no other; or the
 * user's cache, then the data folder. The settings are read here once more because the rest of Parley is not unpacked yet;
 * what is wrong in them is told when they are loaded.
 */
export function unpackFolderCandidates({ env, file, home }: UnpackFolderSources): string[] {
	const settings = readSettings(file);
	const setting = (name: string) => env[`PARLEY_${name.toUpperCase()}`]?.trim() || nonEmptyString(settings[name]);
	const configured = setting('cache_dir');
	if (configured !== undefined) return [resolve(configured)];
	// The XDG base directory specification has relative paths ignored.
	const cache = [env.XDG_CACHE_HOME, home === null ? undefined : join(home, '.cache')].find(
		(path) => path !== undefined && isAbsolute(path),
	);
	const data = resolve(setting('data_dir') ?? 'data/run', 'cache');
	return cache === undefined ? [data] : [join(cache, 'parley'), data];
}

function readSettings(file: string): Record<string, unknown> {
	try {
		return { ...JSON.parse(readFileSync(file, 'utf8')) };
	} catch {
		return {};
	}
}

function nonEmptyString(value: unknown): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}
