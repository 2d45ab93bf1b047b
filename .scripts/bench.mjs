// npm run bench -- NAME [arguments]: runs bench/NAME.ts; without a name every bench, one after the other.
import { basename, dirname } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { filesBelow, main, Remedy, run, say } from './project.mjs';

await main(async () => {
	await ensureInstalled();
	const all = filesBelow('bench', (path) => dirname(path) === 'bench' && path.endsWith('.ts')).map((path) =>
		basename(path, '.ts'),
	);
	const [name, ...args] = process.argv.slice(2);
	if (name !== undefined && !all.includes(name)) {
		throw new Remedy(`There is no bench called ${name}. There are: ${all.join(', ')}.`);
	}
	await ensureBuilt();
	let worst = 0;
	for (const bench of name === undefined ? all : [name]) {
		say(`bench ${bench}`);
		const { code } = await run(process.execPath, ['--import', 'tsx', `bench/${bench}.ts`, ...args]);
		worst = Math.max(worst, code);
	}
	return worst;
});
