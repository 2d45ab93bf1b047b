import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** The sources of the folder that the binary unpacks into. */
interface UnpackFolderSources {
	env: Readonly<Record<string, string | undefined>>;
	/** The settings file, which may be missing. */
	file: string;
	/** The home folder of this user; null when there is none. */
	home: string | null;
}

/**
 * The folders that the binary may unpack into, in the order of preference: only the configured one; or else the user's cache,
 * then the data folder. The settings are read here separately, because src/config is not unpacked yet. Wrong settings are
 * reported when src/config loads them.
 */
export function unpackFolderCandidates({ env, file, home }: UnpackFolderSources): string[] {
	const settings = readSettings(file);
	const setting = (name: string) => env[`PARLEY_${name.toUpperCase()}`]?.trim() || nonEmptyString(settings[name]);
	const configured = setting('cache_dir');
	if (configured !== undefined) return [resolve(configured)];
	// The XDG base directory specification says to ignore relative paths.
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
