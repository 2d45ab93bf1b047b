// npm run check: format, lint, types, imports between modules, the API's description, source rules, words, lock file. All parts run,
// even if one fails.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gapsInExampleEnv } from './example-env.mjs';
import { ensureInstalled } from './install.mjs';
import { gapsInLockFile } from './lock-file.mjs';
import { ensureDescription, gapsInOperations, lintDescription } from './openapi.mjs';
import { main, root, run, say } from './project.mjs';
import { ruleViolations } from './source-rules.mjs';
import { ensureWasmCompiled } from './wat.mjs';

const toResult = (found) => ({ code: found.length === 0 ? 0 : 1, output: found.join('\n') });
const tool = (path, ...args) => run(process.execPath, [`node_modules/${path}`, ...args], { quiet: true });

const parts = {
	'format and lint': () =>
		tool('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--colors=off', '--max-diagnostics=200', '.'),
	types: () => tool('typescript/bin/tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', '.build/types.json'),
	'types of the widget': () => tool('typescript/bin/tsc', '-p', 'src/widget', '--incremental'),
	'types of the dashboard': () => tool('typescript/bin/tsc', '-p', 'src/dashboard', '--incremental'),
	'types of the API docs': () => tool('typescript/bin/tsc', '-p', 'src/api-docs', '--incremental'),
	imports: () =>
		tool(
			'dependency-cruiser/bin/dependency-cruise.mjs',
			...['--config', '.dependency-cruiser.cjs', 'src', 'workers', 'bench', 'test'],
		),
	'API description': lintDescription,
	'operations in docs/api.md': async () => toResult(await gapsInOperations()),
	'example.env': async () => toResult(await gapsInExampleEnv()),
	'source rules': async () => toResult(ruleViolations()),
	words: async () => {
		// Loaded after the installation: it uses the TypeScript compiler.
		const { bannedWords } = await import('./check-words.mjs');
		return toResult(bannedWords());
	},
	'lock file': async () => toResult(gapsInLockFile()),
};

await main(async () => {
	await ensureInstalled();
	mkdirSync(join(root, '.build'), { recursive: true });
	// The check of types includes the generated client, and the check of imports the compiled modules.
	await ensureDescription();
	await ensureWasmCompiled();
	const results = await Promise.all(
		Object.entries(parts).map(async ([name, part]) => {
			const started = performance.now();
			const { code, output } = await part();
			return { name, code, output, seconds: ((performance.now() - started) / 1000).toFixed(1) };
		}),
	);
	const failed = results.filter(({ code }) => code !== 0);
	for (const { name, output } of failed) process.stdout.write(`\n── ${name} ──\n${output.trim()}\n`);
	if (failed.length > 0) process.stdout.write('\n');
	for (const { name, code, seconds } of results) say(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
	return failed.length === 0 ? 0 : 1;
});
