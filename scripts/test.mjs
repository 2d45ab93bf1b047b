// npm test: installs what is missing, builds what is stale, and runs the tests.
//   npm test                          everything but most tests of whole processes, which npm run test:system runs
//   npm test -- conversations store   the files whose path contains one of the words
//   npm test -- --test-name-pattern="resumes"   options go to node's test runner
import { availableParallelism } from 'node:os';
import { binaryUnsupportedReason, ensureBinary } from './binary.mjs';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureDescription } from './openapi.mjs';
import {
	ensureBrowser,
	ensureLitestream,
	ensurePostgres,
	ensurePrometheus,
	ensureProxies,
	ensureSystemdAnalyze,
	ensureTracer,
} from './programs.mjs';
import { filesBelow, isEntry, main, run, say, UserError } from './project.mjs';
import { bundleTests } from './test-bundle.mjs';
import { watchGroups } from './test-deadlines.mjs';
import { testGroups } from './test-groups.mjs';
import { isInNpmTest, isTest } from './test-suites.mjs';

/** Processes of tests that run concurrently: they often wait for a disk, a socket or a worker. */
const CONCURRENCY = Math.min(3 * availableParallelism(), 12);

/**
 * Runs the test files whose path contains one of the words among the arguments. @returns the exit code
 * @param prepare installs and builds what these files need, and returns environment variables for them
 */
export async function runTests(all, args, prepare) {
	const words = args.filter((arg) => !arg.startsWith('-'));
	const options = args.filter((arg) => arg.startsWith('-'));
	const files = words.length === 0 ? all : all.filter((path) => words.some((word) => path.includes(word)));
	if (files.length === 0) {
		const folders = [...new Set(all.map((path) => path.split('/')[1]))];
		throw new UserError(`No test file matches ${words.join(', ')}. There are tests in: ${folders.join(', ')}.`);
	}
	const env = await prepare(files);
	const groups = testGroups(files);
	const { bundled, stateFiles, remove } = await bundleTests(groups);
	const watch = watchGroups(stateFiles, { options });
	try {
		say(`Running ${files.length} test files in ${groups.length} processes …`);
		const { code } = await run(
			process.execPath,
			[
				...['--enable-source-maps', '--test', `--test-concurrency=${CONCURRENCY}`, '--test-reporter=spec'],
				...options,
				...bundled,
			],
			{ env, signal: watch.aborted },
		);
		return code;
	} finally {
		watch.stop();
		remove();
	}
}

/** Installs and builds what test files need. @returns environment variables for them */
export async function prepareTests(files) {
	const browser = await ensureBrowser();
	await ensureTracer();
	await ensurePostgres();
	if (files.some((path) => path.includes('behind-proxies'))) await ensureProxies();
	if (files.some((path) => path.includes('prometheus'))) await ensurePrometheus();
	if (files.some((path) => path.includes('systemd-unit'))) await ensureSystemdAnalyze();
	const litestream = files.some((path) => path.includes('litestream')) ? await ensureLitestream() : null;
	await ensureBuilt();
	await ensureDescription();
	if (files.some((path) => path.startsWith('test/binary/')) && binaryUnsupportedReason() === null) await ensureBinary();
	return {
		...(browser === null ? {} : { PARLEY_CHROMIUM: browser }),
		...(litestream === null ? {} : { PARLEY_LITESTREAM: litestream }),
	};
}

if (isEntry(import.meta.url)) {
	await main(async () => {
		await ensureInstalled();
		const args = process.argv.slice(2);
		const hasWords = args.some((arg) => !arg.startsWith('-'));
		return runTests(filesBelow('test', hasWords ? isTest : isInNpmTest), args, prepareTests);
	});
}
