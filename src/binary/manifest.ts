/** One file that the binary carries. */
export interface EmbeddedFile {
	/** Where it lies in the folder, with `/` between names. */
	path: string;
	bytes: number;
	/** In hexadecimal. */
	sha256: string;
}

/** What a binary carries. */
export interface AssetManifest {
	version: string;
	/** Told from all parts: two binaries with the same digest carry the same. */
	digest: string;
	parts: EmbeddedFile[];
}

/** The name under which the list of contents is among the binary's assets; parts have their paths. */
export const MANIFEST_ASSET = 'contents.json';

/** The folder of these contents, in whichever place: each version has its own. */
export function folderName({ version, digest }: AssetManifest): string {
	return `parley-${version}-${digest.slice(0, 16)}`;
}

/** Whether a folder of this name is one of ours, of any version. */
export function isFolderName(name: string): boolean {
	return /^parley-\d[\w.+-]*-[0-9a-f]{16}$/.test(name);
}
