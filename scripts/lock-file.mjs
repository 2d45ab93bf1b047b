// Checks that package-lock.json is complete. npm may omit packages of other platforms than that of the machine which wrote the file.
// Then `npm ci` refuses to install from it on other platforms.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

/** One sentence for each dependency without an entry, and for each download address, which the file must not have. */
export function gapsInLockFile() {
	const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
	const gaps = [];
	for (const [path, entry] of Object.entries(packages)) {
		const named = { ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies };
		for (const name of Object.keys(named)) {
			if (!holds(packages, path, name))
				gaps.push(`package-lock.json has no entry for ${name}, which ${path || 'Parley'} names.`);
		}
		if (entry.resolved) gaps.push(`package-lock.json has a download address for ${path}. .npmrc prevents them.`);
	}
	return gaps;
}

/** Whether Node resolves `name` from the package at `path`. */
function holds(packages, path, name) {
	for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
		if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in packages) return true;
		if (folder === '') return false;
	}
}
