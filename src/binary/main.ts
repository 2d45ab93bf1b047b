// biome-ignore lint/style/noRestrictedImports: it loads what it has unpacked, and opens no other door.
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { getAsset, getRawAsset } from 'node:sea';
import { gunzipSync } from 'node:zlib';
import {
	type AssetManifest,
	keepMarkedAsUsed,
	MANIFEST_ASSET,
	UnusableFolderError,
	unpackFolderCandidates,
	unpackToFirstUsable,
} from './index.ts';

/** What src/pool/parse-process.ts gives, before the folder in which the server lies. */
const PARSE_HOST = '--parse-host';

/**
 * What runs first in the one file: unpacks the server, with its workers and native parts, and starts it from there. Here
 * `requireSameOrigin` knows the built-in modules only, and a native part can be loaded from nothing but a file.
 */
function main(): void {
	const [, , argument, unpackedFolder] = process.argv;
	// The server starts itself once more, with this argument, for the process that parses: everything is unpacked already.
	if (argument === PARSE_HOST && unpackedFolder !== undefined) {
		createRequire(`${unpackedFolder}/`)('./parse-host.cjs');
		return;
	}
	const contents = JSON.parse(getAsset(MANIFEST_ASSET, 'utf8')) as AssetManifest;
	const folder = unpackToFirstUsable(
		unpackFolderCandidates({ env: process.env, file: 'parley.config.json', home: home() }),
		{
			contents,
			read: (path) => gunzipSync(getRawAsset(path) as ArrayBuffer),
			loadNative: (path) => createRequire(path)(path),
		},
	);
	keepMarkedAsUsed(folder);
	createRequire(`${folder}/`)('./start.cjs');
}

/** Services may run as a user without one. */
function home(): string | null {
	try {
		return homedir();
	} catch {
		return null;
	}
}

try {
	main();
} catch (error) {
	if (!(error instanceof UnusableFolderError)) throw error;
	process.stderr.write(`parley: ${error.message}\n`);
	process.exit(1);
}
