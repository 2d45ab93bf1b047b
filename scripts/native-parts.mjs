// Three packages have machine code, each at another path that it resolves at run time. In a bundle their parts are in native/, and the
// packages load them from there.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, UserError } from './project.mjs';

const { platform, arch, versions } = process;
/** SQLite derives the name of an extension's entry point from the file name, so the name must stay. */
const VECTOR_EXTENSION_FILE = `vec0.${{ darwin: 'dylib', win32: 'dll' }[platform] ?? 'so'}`;

/** The native parts for this Node: their paths in the bundle and their sources. */
export function nativeParts() {
	const system = platform === 'win32' ? 'windows' : platform;
	return {
		'native/better_sqlite3.node': requireFile('node_modules/better-sqlite3/build/Release/better_sqlite3.node'),
		'native/uws.node': httpLibrary(versions.modules),
		[`native/${VECTOR_EXTENSION_FILE}`]: requireFile(
			`node_modules/sqlite-vec-${system}-${arch}/${VECTOR_EXTENSION_FILE}`,
		),
	};
}

/** The native part of the HTTP library for a version of Node's interface for native parts. */
export function httpLibrary(modules) {
	const name = `uws_${platform}_${arch}_${modules}.node`;
	// The official package has its binaries in its top folder.
	return requireFile(`node_modules/uWebSockets.js/dist/bin/${name}`, `node_modules/uWebSockets.js/${name}`);
}

function requireFile(...paths) {
	const path = paths.find((one) => existsSync(join(root, one)));
	if (path === undefined)
		throw new UserError(`There is no ${paths[0]}: the package has no binary for this Node and system.`);
	return path;
}

/** Whether a file of a bundle loads native parts: then it must be beside native/. */
export function loadsNativeParts(text) {
	return /__dirname \+ ["']\/native\//.test(text);
}

/** An esbuild plugin: the packages load their native parts from native/, beside the bundled file. */
export const nativePartsPlugin = {
	name: 'native parts',
	setup(build) {
		const namespace = 'native-parts';
		const instead = {
			// The package that better-sqlite3 uses to find its binary.
			bindings: `module.exports = (name) => require(__dirname + '/native/' + name);`,
			'sqlite-vec': `exports.load = (database) => database.loadExtension(__dirname + '/native/${VECTOR_EXTENSION_FILE}');`,
		};
		build.onResolve({ filter: /^(bindings|sqlite-vec)$/ }, ({ path }) => ({ path, namespace }));
		build.onLoad({ filter: /^/, namespace }, ({ path }) => ({ contents: instead[path], loader: 'js' }));
		const uws = "require(__dirname + '/native/uws.node')";
		build.onLoad({ filter: /[\\/]uWebSockets\.js[\\/](dist[\\/])?uws\.m?js$/ }, ({ path }) => ({
			contents: path.endsWith('.mjs') ? `export default ${uws};` : `module.exports = ${uws};`,
			loader: 'js',
		}));
	},
};
