// Which test files npm test runs by itself, and which npm run test:system runs.

/**
 * Each of these files takes long: it starts a browser, an executable, or a process for each of its tests, indexes or trains large
 * collections of texts, parses large or hostile documents, or repeats a scenario for each point at which it may fail.
 */
const SYSTEM_PATHS = [
	'test/bench-floor/answers.test.ts',
	'test/bench-floor/baseline.test.ts',
	'test/bench-floor/collections-answers.test.ts',
	'test/bench-floor/retrieval.test.ts',
	'test/binary/',
	'test/browser/',
	'test/process/',
	'test/conformance/generated-clients.test.ts',
	'test/knowledge/embedders-retries.test.ts',
	'test/knowledge/embedders-same-name.test.ts',
	'test/knowledge/sources/site-simulation.test.ts',
	'test/knowledge/training-large.test.ts',
	'test/parsing/bombs.test.ts',
	'test/pool/pdf-operators.test.ts',
	'test/pool/recognition.test.ts',
];

/** Files of them that npm test runs, too: the dashboard's first page, a dialogue in the widget, start and stop, a kill, backups, the README's tour. */
const SHORT_FORM = [
	'test/browser/dashboard-assistants.test.ts',
	'test/browser/widget-answers.test.ts',
	'test/process/backup-under-load.test.ts',
	'test/process/commit-reaches-disk.test.ts',
	'test/process/first-start.test.ts',
	'test/process/graceful-stop.test.ts',
	'test/process/healthcheck.test.ts',
	'test/process/readme-tour.test.ts',
	'test/process/survives-kill.test.ts',
];

export function isTest(path) {
	return path.endsWith('.test.ts');
}

export function isSystemTest(path) {
	return isTest(path) && SYSTEM_PATHS.some((start) => path.startsWith(start));
}

/** Whether npm test runs the file when no word selects files. */
export function isInNpmTest(path) {
	return isTest(path) && (!isSystemTest(path) || SHORT_FORM.includes(path));
}
