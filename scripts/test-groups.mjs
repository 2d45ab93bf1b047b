// Which test files share a process. A process of its own costs each file the start of Node, loading the server, and running it
// before V8 has optimized anything: for most files that is more than their tests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

/** Most files that one process runs, one after the other, and about how many seconds they may take together. */
const MAX_FILES = 14;
const MAX_SECONDS = 45;

/** A line by which a test file asks for its own process, with the reason: it measures or patches what all files would share. */
const OWN_PROCESS = /^\/\/ Own process: \S/m;

/**
 * Seconds of the test files that take long, in a full run on two processors. They decide only which files share a process and which
 * processes start first, so that none with much work starts last.
 */
const SECONDS = {
	'access/passwords': 5,
	'access/sign-in-limits': 6,
	'access/visitor-key-sets': 5,
	'api/errors': 7,
	'api/events': 5,
	'api/reindex': 14,
	'api/webhook-deliveries': 5,
	'api/webhooks-ping': 7,
	'api/widget-jwt': 14,
	'api/widget-streams': 6,
	'base/log-destination': 12,
	'bench-floor/answers': 35,
	'bench-floor/baseline': 6,
	'bench-floor/retrieval': 17,
	'binary/cache-folder': 21,
	'binary/one-file': 19,
	'binary/reproducible': 11,
	'browser/api-docs': 18,
	'browser/widget-accessibility': 29,
	'browser/widget-answers': 17,
	'browser/widget-failures': 19,
	'browser/widget-host-pages': 16,
	'browser/widget-hostile': 13,
	'browser/widget-looks': 25,
	'browser/widget-people': 11,
	'browser/widget-queue': 10,
	'browser/widget-reconnects': 15,
	'browser/widget-several': 5,
	'browser/widget-words': 15,
	'conformance/generated-client': 5,
	'conformance/generated-clients': 14,
	'conformance/headers': 5,
	'conformance/lifecycle': 12,
	'conformance/properties': 25,
	'conformance/workspaces': 5,
	'conversations/failed-search': 12,
	'conversations/faults/interruptions': 6,
	'conversations/faults/provider-faults': 8,
	'conversations/faults/tool-faults': 6,
	'conversations/retention': 6,
	'deployments/visitor-limits': 9,
	'examples/examples': 9,
	'http/json-body': 11,
	'http/multipart': 5,
	'http/sse': 5,
	'knowledge/embedders': 30,
	'knowledge/embedders-retries': 30,
	'knowledge/embedders-same-name': 8,
	'knowledge/ingest': 8,
	'knowledge/ingest-hostile': 10,
	'knowledge/ingest-url': 6,
	'knowledge/no-text': 5,
	'knowledge/rebuild': 7,
	'knowledge/reindex-kill': 18,
	'knowledge/shortage': 5,
	'knowledge/training': 8,
	'models/embeddings': 8,
	'models/provider-circuits': 5,
	'models/providers-faults': 9,
	'models/providers-timeouts': 11,
	'net/egress-paths': 35,
	'net/resolve': 5,
	'parsing/bombs': 40,
	'pool/parse-process': 9,
	'pool/pdf-operators': 6,
	'pool/worker-pool': 7,
	'process/command-line': 21,
	'process/descriptor-shares': 7,
	'process/doctor': 8,
	'process/first-start': 9,
	'process/full-disk': 11,
	'process/parse-process': 12,
	'process/repeats-after-kill': 5,
	'process/retention-after-kill': 5,
	'process/secrets-reset': 6,
	'process/survives-kill': 14,
	'process/webhooks-after-kill': 18,
	'scripts/test-groups': 8,
	'store/sqlite-store': 5,
	'tools/mcp-faults': 7,
	'webhooks/delivery/isolation': 5,
	'webhooks/delivery/order': 5,
	'webhooks/delivery/receivers': 7,
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
