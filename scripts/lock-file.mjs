// Whether package-lock.json is complete. npm leaves out platform packages that the machine which wrote the file did not see,
// and `npm ci` then refuses to install from it on every other machine.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

/** Every dependency that the lock file names but does not hold, as a sentence; and download addresses, which do not belong there. */
export function gapsInLockFile() {
	const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
	const gaps = [];
	for (const [path, entry] of Object.entries(packages)) {
		const named = { ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies };
		for (const name of Object.keys(named)) {
			if (!holds(packages, path, name))
				gaps.push(`package-lock.json has no entry for ${name}, which ${path || 'Parley'} names.`);
		}
		if (entry.resolved) gaps.push(`package-lock.json has a download address for ${path}; .npmrc keeps them out.`);
	}
	return gaps;
}

/** Whether Node's search from the package at `path` upwards finds `name`. */
function holds(packages, path, name) {
	for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
		if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in packages) return true;
		if (folder === '') return false;
	}
}
