// npm run test:node22: copies the project into a temporary folder, installs its packages there for Node 22 of a pinned version, and runs
// npm test and npm run test:system with it. The working copy stays as it is. Words select files and options go to node's test runner.
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureNode22, NODE_22, node22Environment, node22UnsupportedReason } from './node22.mjs';
import { main, root, run, say, UserError } from './project.mjs';

await main(async () => {
	const why = node22UnsupportedReason();
	if (why !== null) throw new UserError(why);
	const node22 = await ensureNode22();
	// Its own path: a test may compare it with a path of the process.
	const copy = mkdtempSync(join(realpathSync(tmpdir()), 'parley-node22-'));
	try {
		await copyProject(copy);
		say(`Testing with Node ${NODE_22} in ${copy} …`);
		const args = process.argv.slice(2);
		const hasWords = args.some((arg) => !arg.startsWith('-'));
		// With words, npm test runs every file that they select.
		for (const script of hasWords ? ['test'] : ['test', 'test-system']) {
			const env = { ...node22Environment(node22), npm_config_prefer_offline: 'true' };
			const { code } = await run(join(node22, 'bin/node'), [`scripts/${script}.mjs`, ...args], { cwd: copy, env });
			if (code !== 0) return code;
		}
		return 0;
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
});

/** Copies the files of the project: those that Git has, and new ones that it does not ignore. */
async function copyProject(copy) {
	const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
	const { code, output } = await run('git', args, { quiet: true });
	if (code !== 0) throw new UserError(`Git could not list the files of the project:\n${output.trim()}`);
	for (const path of output.split('\0').filter((path) => path !== '')) {
		mkdirSync(dirname(join(copy, path)), { recursive: true });
		try {
			copyFileSync(join(root, path), join(copy, path));
		} catch (error) {
			// Deleted, and not committed yet.
			if (error.code !== 'ENOENT') throw error;
		}
	}
}
