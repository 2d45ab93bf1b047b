import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UnusableFolderError } from './unusable-folder-error.ts';

/** Whoever may write, where nobody else should. */
const GROUP_AND_OTHERS = 0o022;
const OTHERS = 0o002;
/** In a folder with this bit everybody may rename and remove only what is theirs. */
const STICKY = 0o1000;

/**
 * Makes a folder for this user alone, or makes sure that it is one: code is loaded from it, so nobody else may be able to
 * change it or to put another in its place.
 * @throws Unusable
 */
export function ensurePrivateFolder(path: string): void {
	makeFolders(path);
	const parent = statSync(dirname(path));
	if (!isOwnedByUserOrRoot(parent.uid)) throw new UnusableFolderError('the folder around it belongs to another user');
	if ((parent.mode & OTHERS) !== 0 && (parent.mode & STICKY) === 0) {
		throw new UnusableFolderError('everybody may write in the folder around it');
	}
	const folder = lstatSync(path);
	if (!folder.isDirectory()) throw new UnusableFolderError('it is no folder');
	if (!isOwnedByUserOrRoot(folder.uid)) throw new UnusableFolderError('it belongs to another user');
	if ((folder.mode & GROUP_AND_OTHERS) !== 0) throw new UnusableFolderError('other users may write there');
}

/** Makes a folder for this user alone, and those around it that are missing. (Node's own way goes round for ever in /proc.) */
export function makeFolders(path: string): void {
	const make = () => {
		try {
			mkdirSync(path, { mode: 0o700 });
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
	};
	try {
		make();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
		makeFolders(dirname(path));
		make();
	}
}

/** What the administrator has made is as good as what we have; systems without users have none to tell apart. */
function isOwnedByUserOrRoot(uid: number): boolean {
	const ours = process.getuid?.();
	return ours === undefined || uid === ours || uid === 0;
}
