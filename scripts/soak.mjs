// npm run soak: uses a server for half an hour, with faults, and reports how its memory, handles and latency change.
//   npm run soak -- --minutes 10 --seed 7
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { main, run } from './project.mjs';

await main(async () => {
	await ensureInstalled();
	await ensureBuilt();
	const args = ['--enable-source-maps', '--import', 'tsx', 'test/soak/main.ts', ...process.argv.slice(2)];
	const { code } = await run(process.execPath, args);
	return code;
});
