// npm run test:long: runs the tests in full that npm test and npm run test:system run in a short form: more kills, more backups under
// load, larger bombs, more generated requests, more simulations of webhooks and of websites, as many visitors as the server remembers,
// a thousand erased users, every hostile URL on every path, and both collections of questions.

import { join } from 'node:path';
import { main, root, run } from './project.mjs';

const FILES = [
	'process/backup-under-load',
	'process/webhooks-after-kill',
	'webhooks/simulation',
	'parsing/bombs',
	'conformance/properties',
	'sources/site-simulation',
	'visitor-limits',
	'net/egress-paths',
	'api/erasures',
	'bench-floor/retrieval',
];

await main(async () => {
	const env = {
		BACKUPS: '100',
		KILLS: '50',
		SEEDS: '500',
		SITES: '60',
		BOMBS: 'full',
		FC_RUNS: '200',
		VISITORS: 'full',
		EGRESS: 'full',
		CANARIES: 'full',
		COLLECTIONS: 'full',
		FILE_MINUTES: '60',
	};
	const { code } = await run(
		process.execPath,
		[join(root, 'scripts', 'test.mjs'), ...FILES, ...process.argv.slice(2)],
		{ env },
	);
	return code;
});
