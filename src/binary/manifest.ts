/** One file in the binary. */
export interface EmbeddedFile {
	/** Its path in the folder, with `/` between names. */
	path: string;
	bytes: number;
	/** In hexadecimal. */
	sha256: string;
}

/** The contents of a binary. */
export interface AssetManifest {
	version: string;
	/** Computed from all files: two binaries with the same digest have the same contents. */
	digest: string;
	parts: EmbeddedFile[];
}

/** The name of the manifest among the binary's assets. Files are named by their paths. */
export const MANIFEST_ASSET = 'contents.json';

/** The name of the folder of these contents. Each version has its own. */
export function folderName({ version, digest }: AssetManifest): string {
	return `parley-${version}-${digest.slice(0, 16)}`;
}

/** Whether a folder name belongs to an unpacked Parley of any version. */
export function isFolderName(name: string): boolean {
	return /^parley-\d[\w.+-]*-[0-9a-f]{16}$/.test(name);
}
