// npm test: install what is missing, build what is stale, run the tests.
//   npm test                          everything
//   npm test -- conversations store   the files whose path contains one of the words
//   npm test -- --test-name-pattern="resumes"   options go to node's test runner
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureDescribed } from './openapi.mjs';
import { ensureBrowser, ensureTracer } from './programs.mjs';
import { filesBelow, main, Remedy, run, say } from './project.mjs';

await main(async () => {
	await ensureInstalled();
	const args = process.argv.slice(2);
	const words = args.filter((arg) => !arg.startsWith('-'));
	const options = args.filter((arg) => arg.startsWith('-'));
	const all = filesBelow('test', (path) => path.endsWith('.test.ts'));
	const files = words.length === 0 ? all : all.filter((path) => words.some((word) => path.includes(word)));
	if (files.length === 0) {
		const rooms = [...new Set(all.map((path) => path.split('/')[1]))];
		throw new Remedy(`No test file matches ${words.join(', ')}. There are tests in: ${rooms.join(', ')}.`);
	}
	const browser = await ensureBrowser();
	await ensureTracer();
	await ensureBuilt();
	await ensureDescribed();
	say(`Running ${files.length} test files …`);
	const { code } = await run(
		process.execPath,
		['--import', 'tsx', '--test', '--test-concurrency=2', '--test-reporter=spec', ...options, ...files],
		{ env: browser === null ? {} : { PARLEY_CHROMIUM: browser } },
	);
	return code;
});
