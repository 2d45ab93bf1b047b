// Which test files share a process. A process of its own costs each file the start of Node, loading the server, and running it
// before V8 has optimized anything: for most files that is more than their tests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

/** Most files that one process runs, one after the other. */
const MAX_FILES = 12;

/** A line by which a test file asks for its own process, with the reason: it measures or patches what all files would share. */
const OWN_PROCESS = /^\/\/ Own process: \S/m;

/** Folders of `test` whose files take longest. They start first, so that no long group runs alone at the end. */
const LONGEST = [
	'process',
	'knowledge',
	'browser',
	'conformance',
	'binary',
	'parsing',
	'bench-floor',
	'conversations',
	'net',
	'api',
];

/**
 * Divides test files into groups, the files of a folder of `test` in groups of about equal size.
 * @returns groups as {name, files}; their names sort in the order in which they are to start
 */
export function testGroups(paths) {
	const groups = [];
	const folders = [...new Set(paths.map(folderOf))];
	const rank = (folder) => (LONGEST.includes(folder) ? LONGEST.indexOf(folder) : LONGEST.length);
	for (const folder of folders.sort((a, b) => rank(a) - rank(b))) {
		const files = paths.filter((path) => folderOf(path) === folder);
		const own = files.filter((path) => OWN_PROCESS.test(readFileSync(join(root, path), 'utf8')));
		const shared = files.filter((path) => !own.includes(path));
		const parts = Math.ceil(shared.length / MAX_FILES);
		const isIn = (part) => (_path, at) => Math.floor((at * parts) / shared.length) === part;
		for (let part = 0; part < parts; part++) groups.push({ folder, files: shared.filter(isIn(part)) });
		for (const path of own) groups.push({ folder, files: [path] });
	}
	const digits = String(groups.length).length;
	return groups.map(({ folder, files }, at) => ({ name: `${String(at).padStart(digits, '0')}-${folder}`, files }));
}

function folderOf(path) {
	return path.split('/')[1];
}
