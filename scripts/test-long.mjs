// npm run test:long: the tests that npm test runs in a short form, in full: more kills, larger bombs, more generated
// requests, as many visitors as are remembered.

import { join } from 'node:path';
import { main, root, run } from './project.mjs';

const FILES = ['process/webhooks-after-kill', 'parsing/bombs', 'conformance/properties', 'visitor-limits'];

await main(async () => {
	const env = { KILLS: '50', BOMBS: 'full', FC_RUNS: '200', VISITORS: 'full' };
	const { code } = await run(
		process.execPath,
		[join(root, 'scripts', 'test.mjs'), ...FILES, ...process.argv.slice(2)],
		{ env },
	);
	return code;
});
