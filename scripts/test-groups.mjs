// Which test files share a process. A process of its own costs each file the start of Node, loading the server, and running it
// before V8 has optimized anything: for most files that is more than their tests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

/** Most files that one process runs, one after the other, and about how many seconds they may take together. */
const MAX_FILES = 14;
const MAX_SECONDS = 30;

/** A line by which a test file asks for its own process, with the reason: it measures or patches what all files would share. */
const OWN_PROCESS = /^\/\/ Own process: \S/m;

/**
 * Seconds of the test files that take long, in a full run on two processors. They decide only which files share a process and which
 * processes start first, so that none with much work starts last.
 */
const SECONDS = {};

/** Seconds of the other files. */
const SECONDS_OF_OTHERS = 2;

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
	let group = [];
	for (const path of files) {
		const isFull = group.length === MAX_FILES || secondsOf([...group, path]) > MAX_SECONDS;
		if (group.length > 0 && isFull) group = [];
		if (group.length === 0) groups.push(group);
		group.push(path);
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
