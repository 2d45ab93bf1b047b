import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** From where it is told where the binary may unpack. */
export interface PlaceSources {
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
export function places({ env, file, home }: PlaceSources): string[] {
	const settings = readSettings(file);
	const setting = (name: string) => env[`PARLEY_${name.toUpperCase()}`]?.trim() || text(settings[name]);
	const chosen = setting('cache_dir');
	if (chosen !== undefined) return [resolve(chosen)];
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

function text(value: unknown): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}
