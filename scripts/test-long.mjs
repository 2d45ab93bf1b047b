// npm run test:long: runs the tests in full that npm test runs in a short form: more kills, larger bombs, more generated requests, and as
// many visitors as the server remembers.

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
