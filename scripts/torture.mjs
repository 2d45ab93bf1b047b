// npm run torture: starts servers under load, and kills, stops or damages them in rounds with seeds. npm run torture -- --help lists the
// options and the kinds of rounds.
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { ensurePostgres } from './programs.mjs';
import { main, run } from './project.mjs';

await main(async () => {
	await ensureInstalled();
	await ensurePostgres();
	await ensureBuilt();
	const { code } = await run(process.execPath, ['--import', 'tsx', 'test/torture/main.ts', ...process.argv.slice(2)]);
	return code;
});
