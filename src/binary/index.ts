export { type AssetManifest, type EmbeddedFile, folderName, MANIFEST_ASSET } from './manifest.ts';
export { keepMarkedAsUsed } from './old-versions.ts';
export { unpackFolderCandidates } from './unpack-folders.ts';
export { type EmbeddedAssets, unpackToFirstUsable } from './unpack-to-first-usable.ts';
export { UnusableFolderError } from './unusable-folder-error.ts';
