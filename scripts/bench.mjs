// npm run bench runs every part and prints a table of all figures. npm run bench -- NAME [arguments] runs bench/NAME.ts only.
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureBrowser } from './programs.mjs';
import { filesBelow, main, root, run, say, UserError } from './project.mjs';

/** The parts that measure in a browser. */
const WITH_BROWSER = ['dashboard', 'widget'];

await main(async () => {
	await ensureInstalled();
	const all = filesBelow('bench', (path) => dirname(path) === 'bench' && path.endsWith('.ts')).map((path) =>
		basename(path, '.ts'),
	);
	const [name, ...args] = process.argv.slice(2);
	if (name !== undefined && !all.includes(name)) {
		throw new UserError(`There is no bench called ${name}. There are: ${all.join(', ')}.`);
	}
	await ensureBuilt();
	const browser = name === undefined || WITH_BROWSER.includes(name) ? await ensureBrowser() : null;
	// On the project's own disk: the system's temporary folder may be in memory, where a sync takes no time.
	const folder = join(root, '.build', 'bench');
	const temporary = join(folder, 'tmp');
	await rm(temporary, { recursive: true, force: true });
	await mkdir(temporary, { recursive: true });
	const env = { TMPDIR: temporary, ...(browser === null ? {} : { PARLEY_CHROMIUM: browser }) };
	const bench = (path, ...given) => run(process.execPath, ['--import', 'tsx', `bench/${path}.ts`, ...given], { env });
	// The table must not have figures of earlier runs.
	if (name === undefined) await rm(join(folder, 'parts'), { recursive: true, force: true });
	let worst = 0;
	for (const part of name === undefined ? all : [name]) {
		say(`bench ${part}`);
		const { code } = await bench(part, ...args);
		worst = Math.max(worst, code);
	}
	if (name === undefined) await bench('report/summary', ...all);
	return worst;
});
