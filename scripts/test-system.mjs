// npm run test:system: runs the tests that take long: those of whole processes, in a browser, of servers that are started, killed and
// stopped, and of the single binary; those of large collections, hostile documents and scans; and those of every failure of an embedder.
// npm test has a few of these tests. Words select files and options go to node's test runner, as with npm test.
import { ensureInstalled } from './install.mjs';
import { filesBelow, main } from './project.mjs';
import { prepareTests, runTests } from './test.mjs';
import { isSystemTest } from './test-suites.mjs';

await main(async () => {
	await ensureInstalled();
	return runTests(filesBelow('test', isSystemTest), process.argv.slice(2), prepareTests);
});
