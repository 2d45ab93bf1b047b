// npm run fuzz: gives generated inputs to the parts that read what strangers send.
//   npm run fuzz                                      every target, 30 seconds each, with a random seed
//   npm run fuzz -- parsers --seconds 600 --seed 7    one target
//   npm run fuzz -- parsers --seed 7 --path 31:0:2    one input, as the output of a failed run names it
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureBrowser } from './programs.mjs';
import { main, run } from './project.mjs';

await main(async () => {
	await ensureInstalled();
	const browser = await ensureBrowser();
	await ensureBuilt();
	const env = browser === null ? {} : { PARLEY_CHROMIUM: browser };
	const { code } = await run(
		process.execPath,
		['--enable-source-maps', '--import', 'tsx', 'test/fuzz/main.ts', ...process.argv.slice(2)],
		{ env },
	);
	return code;
});
