// biome-ignore lint/style/noRestrictedImports: it loads the unpacked server and nothing else.
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

/** The argument that src/pool/parse-process.ts passes before the folder of the unpacked server. */
const PARSE_HOST = '--parse-host';

/**
 * The entry point of the single binary: unpacks the server with its workers and native modules, and starts it from there.
 * Inside the binary `require` knows only built-in modules, and a native module can only be loaded from a file. For the same
 * reason this reads `process.env` itself: src/config is part of the server, which is not unpacked yet.
 */
function main(): void {
	const [, , argument, unpackedFolder] = process.argv;
	// The server starts this binary again with this argument as the parsing process. Everything is unpacked already.
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

/** The home folder; null for users without one, as some services have. */
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
