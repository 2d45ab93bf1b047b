/** A file that a person has chosen or dropped. */
export interface ChosenFile {
	file: File;
	/** Its name with its folders. */
	path: string;
}

/** Files that are read from dropped folders at most: more than a queue takes, so that it can say how many are left out. */
const MAX_FILES = 20_000;

/** The files of a file field, also of one for folders. */
export function chosenFiles(files: FileList): ChosenFile[] {
	return [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name })).filter(isWanted);
}

/** The files of a drop, with those of dropped folders. Call it within the event: the browser forgets the items afterwards. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<ChosenFile[]> {
	const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
	if (entries.length === 0) return chosenFiles(files);
	const found: ChosenFile[] = [];
	for (const entry of entries) await collect(entry, found);
	return found.filter(isWanted);
}

async function collect(entry: FileSystemEntry, found: ChosenFile[]): Promise<void> {
	if (found.length >= MAX_FILES) return;
	if (entry.isFile) {
		const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
		found.push({ file, path: entry.fullPath.replace(/^\//, '') });
		return;
	}
	const reader = (entry as FileSystemDirectoryEntry).createReader();
	for (;;) {
		// Each call gives some of the entries, until it gives none.
		const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
		if (some.length === 0) return;
		for (const child of some) await collect(child, found);
	}
}

/** Files that a system keeps in folders for itself are left out. */
function isWanted({ file }: ChosenFile): boolean {
	return !file.name.startsWith('.') && file.name !== 'Thumbs.db' && file.name !== 'desktop.ini';
}
