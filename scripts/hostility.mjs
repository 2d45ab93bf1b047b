// npm run hostility: attacks servers on the loopback address and measures its memory and the latency of honest clients meanwhile.
//   npm run hostility -- --scale 0.1 --seconds 3    a tenth of the connections
//   npm run hostility -- idle uploads               the scenarios whose names have one of these words
//   npm run hostility -- --help                     lists the scenarios
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { main, run } from './project.mjs';

await main(async () => {
	await ensureInstalled();
	await ensureBuilt();
	const args = ['--enable-source-maps', '--import', 'tsx', 'test/hostility/main.ts', ...process.argv.slice(2)];
	const { code } = await run(process.execPath, args);
	return code;
});
