// npm run test:binary: builds the executable if it is stale, and runs every test that starts a server process against it, the README's
// tour included. Words select files and options go to node's test runner, as with npm test.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinary } from './binary.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureBrowser, ensureLitestream, ensureTracer } from './programs.mjs';
import { filesBelow, main, root } from './project.mjs';
import { runTests } from './test.mjs';

const concerns = (path) =>
	path.startsWith('test/binary/') || readFileSync(join(root, path), 'utf8').includes('/server-process.ts');

await main(async () => {
	await ensureInstalled();
	const all = filesBelow('test', (path) => path.endsWith('.test.ts') && concerns(path));
	return runTests(all, process.argv.slice(2), async () => {
		const browser = await ensureBrowser();
		await ensureTracer();
		const litestream = await ensureLitestream();
		return {
			PARLEY_BINARY: await ensureBinary(),
			...(browser === null ? {} : { PARLEY_CHROMIUM: browser }),
			...(litestream === null ? {} : { PARLEY_LITESTREAM: litestream }),
		};
	});
});
