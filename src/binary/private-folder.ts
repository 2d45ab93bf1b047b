import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UnusableFolderError } from './unusable-folder-error.ts';

/** Write permission of the group and of others. */
const GROUP_AND_OTHERS = 0o022;
const OTHERS = 0o002;
/** The sticky bit: users may rename and remove only their own files. */
const STICKY = 0o1000;

/**
 * Makes a folder that only this user can write to, or checks that an existing folder is such a folder. Code is loaded from it, so no other user may be
 * able to change or replace it.
 * @throws UnusableFolderError
 */
export function ensurePrivateFolder(path: string): void {
	makeFolders(path);
	const parent = statSync(dirname(path));
	if (!isOwnedByUserOrRoot(parent.uid)) throw new UnusableFolderError('its parent folder belongs to another user');
	if ((parent.mode & OTHERS) !== 0 && (parent.mode & STICKY) === 0) {
		throw new UnusableFolderError('all users may write in its parent folder');
	}
	const folder = lstatSync(path);
	if (!folder.isDirectory()) throw new UnusableFolderError('it is not a folder');
	if (!isOwnedByUserOrRoot(folder.uid)) throw new UnusableFolderError('it belongs to another user');
	if ((folder.mode & GROUP_AND_OTHERS) !== 0) throw new UnusableFolderError('other users may write there');
}

/** Makes a folder for this user alone, with its missing parents. (Node's `recursive` option never returns in /proc.) */
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

/** Folders of root are trusted too. Systems without user ids have no owners to compare. */
function isOwnedByUserOrRoot(uid: number): boolean {
	const ownUid = process.getuid?.();
	return ownUid === undefined || uid === ownUid || uid === 0;
}
