// Which test files share a process. A process of its own costs each file the start of Node, loading the server, and running it
// before V8 has optimized anything: for most files that is more than their tests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

/** Most files that one process runs, one after the other, and about how many seconds they may take together. */
const MAX_FILES = 40;
const MAX_SECONDS = 60;

/** A line by which a test file asks for its own process, with the reason: it measures or patches what all files would share. */
const OWN_PROCESS = /^\/\/ Own process: \S/m;

/**
 * Seconds of the test files that take long, in a full run on two processors. They decide only which files share a process and which
 * processes start first, so that none with much work starts last.
 */
const SECONDS = {
	'access/secret-key-of-database': 5,
	'access/sign-in-limits': 6,
	'access/visitor-key-sets': 5,
	'api/api-keys': 5,
	'api/errors': 10,
	'api/knowledge-bases': 5,
	'api/pipeline': 5,
	'api/reindex': 19,
	'api/tools-try-out': 5,
	'api/webhook-deliveries': 5,
	'api/webhooks-ping': 5,
	'api/widget-jwt': 10,
	'api/widget-streams': 7,
	'base/log': 6,
	'base/log-destination': 7,
	'backup/archive': 12,
	'bench-floor/answers': 30,
	'bench-floor/baseline': 7,
	'bench-floor/collections-answers': 45,
	'bench-floor/retrieval': 10,
	'binary/cache-folder': 24,
	'binary/one-file': 22,
	'binary/reproducible': 10,
	'browser/api-docs': 18,
	'browser/widget-accessibility': 24,
	'browser/widget-answers': 10,
	'browser/widget-failures': 14,
	'browser/widget-host-pages': 9,
	'browser/widget-hostile': 9,
	'browser/widget-looks': 17,
	'browser/widget-people': 7,
	'browser/widget-queue': 7,
	'browser/widget-reconnects': 13,
	'browser/widget-words': 11,
	'conformance/generated-client': 7,
	'conformance/generated-clients': 10,
	'conformance/lifecycle': 7,
	'conformance/properties': 29,
	'conversations/context-limit': 6,
	'conversations/failed-search': 10,
	'conversations/fan-out': 5,
	'conversations/faults/interruptions': 6,
	'conversations/faults/provider-faults': 8,
	'conversations/faults/tool-faults': 7,
	'deployments/visitor-limits': 5,
	'fuzz/short-form': 15,
	'hostility/short-form': 35,
	'http/json-body': 7,
	'knowledge/embedders': 16,
	'knowledge/embedders-retries': 45,
	'knowledge/embedders-same-name': 13,
	'knowledge/ingest': 7,
	'knowledge/ingest-hostile': 12,
	'knowledge/ingest-url': 8,
	'knowledge/rebuild': 17,
	'knowledge/sources/site-simulation': 9,
	'knowledge/training': 12,
	'knowledge/training-large': 45,
	'knowledge/training-failures': 8,
	'models/provider-streams': 5,
	'models/providers-faults': 6,
	'models/providers-timeouts': 5,
	'net/egress-paths': 14,
	'parsing/bombs': 27,
	'pool/parse-process': 14,
	'pool/pdf-operators': 6,
	'pool/recognition': 8,
	'pool/worker-pool': 19,
	'process/backup': 14,
	'process/backup-under-load': 16,
	'process/command-line': 41,
	'process/damaged-files': 5,
	'process/descriptor-limit': 5,
	'process/descriptor-shares': 5,
	'process/doctor': 17,
	'process/first-start': 15,
	'process/full-disk': 9,
	'process/parse-process': 27,
	'process/readme-tour': 10,
	'process/reindex-after-kill': 12,
	'process/repeats-after-kill': 6,
	'process/secrets-reset': 11,
	'process/survives-kill': 15,
	'process/training-after-kill': 28,
	'process/webhooks-after-kill': 23,
	'simulation/simulation': 15,
	'soak/short-form': 21,
	'store/search/same-rankings': 20,
	'torture/check': 5,
	'torture/late-commit': 10,
	'torture/torture': 45,
	'webhooks/delivery/isolation': 7,
	'webhooks/delivery/order': 7,
	'webhooks/delivery/probe-backoff': 5,
	'webhooks/delivery/races': 7,
	'webhooks/delivery/receivers': 5,
	'webhooks/simulation': 14,
};

/** Seconds of the other files. */
const SECONDS_OF_OTHERS = 1;

/**
 * Divides test files into groups: files of one folder of `test`, in their order.
 * @returns groups as {name, files}; their names sort in the order in which they are to start, the longest first
 */
export function testGroups(paths) {
	const groups = [];
	for (const folder of new Set(paths.map(folderOf))) {
		const files = paths.filter((path) => folderOf(path) === folder);
		const own = files.filter((path) => OWN_PROCESS.test(readFileSync(join(root, path), 'utf8')));
		groups.push(...own.map((path) => [path]));
		groups.push(...divide(files.filter((path) => !own.includes(path))));
	}
	groups.sort((a, b) => secondsOf(b) - secondsOf(a));
	const digits = String(groups.length).length;
	return groups.map((files, at) => ({ name: `${String(at).padStart(digits, '0')}-${folderOf(files[0])}`, files }));
}

/** Divides files into groups within the limits. A file that exceeds them alone has its own group. */
function divide(files) {
	const groups = [];
	for (const path of files) {
		const group = groups.find((each) => each.length < MAX_FILES && secondsOf([...each, path]) <= MAX_SECONDS);
		if (group) group.push(path);
		else groups.push([path]);
	}
	return groups;
}

function secondsOf(files) {
	const seconds = (path) => SECONDS[path.replace(/^test\/|\.test\.ts$/g, '')] ?? SECONDS_OF_OTHERS;
	return files.reduce((sum, path) => sum + seconds(path), 0);
}

function folderOf(path) {
	return path.split('/')[1];
}
