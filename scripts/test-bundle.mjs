// Bundles test files with all that they import, the workers too. Loading the server from some hundred TypeScript files takes a
// second of processor time, and every test file is a process of its own that would do it again, once more in each worker.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMMON_JS_BANNER, FOR_NODE, OPTIONAL_PACKAGES, withEsbuild, workers } from './build.mjs';
import { root } from './project.mjs';

const BUNDLES = join(root, '.build', 'tests');
const DAY_MS = 24 * 3_600_000;

/** Packages that look for files beside themselves, machine code or a browser's driver. */
const EXTERNAL_PACKAGES = ['better-sqlite3', 'sqlite-vec', 'uWebSockets.js', 'piscina', 'playwright-core'];

/** Looks for the workers beside itself, as it does in the bundled server. */
const WORKER_ENTRY_FILE = join(root, 'src', 'pool', 'worker-entry.ts');

/**
 * Bundles test files, given as paths relative to the project, as they are now. The folder is new: whoever runs tests at the
 * same time, of other sources perhaps, has one of their own.
 * @returns the bundled files in the order of the given ones, and what removes them all
 */
export async function bundleTests(files) {
	mkdirSync(BUNDLES, { recursive: true });
	for (const name of readdirSync(BUNDLES)) {
		// Left behind by a run that was broken off.
		const folder = join(BUNDLES, name);
		if (existsSync(folder) && Date.now() - statSync(folder).mtimeMs > DAY_MS) rmSync(folder, { recursive: true });
	}
	const folder = mkdtempSync(join(BUNDLES, 'run-'));
	const remove = () => rmSync(folder, { recursive: true, force: true });
	try {
		await withEsbuild((esbuild) =>
			esbuild.build({
				...FOR_NODE,
				entryPoints: [
					...files.map((path) => ({ in: `./${path}`, out: withoutEnding(path) })),
					...workers().map((path) => ({ in: `./${path}`, out: withoutEnding(path) })),
				],
				outdir: folder,
				write: true,
				format: 'esm',
				splitting: true,
				sourcemap: 'linked',
				sourcesContent: false,
				// The modules of packages have the address of the bundle, as in the bundled server.
				banner: { js: `${COMMON_JS_BANNER} globalThis.addressOfThisModule ??= import.meta.url;` },
				define: { 'import.meta.url': 'addressOfThisModule' },
				plugins: [moduleAddressPlugin(folder)],
				external: [...EXTERNAL_PACKAGES, ...OPTIONAL_PACKAGES],
			}),
		);
	} catch (error) {
		remove();
		throw error;
	}
	return { bundled: files.map((path) => join(folder, `${withoutEnding(path)}.js`)), remove };
}

/** An esbuild plugin: our modules go on finding what lies beside their source. */
function moduleAddressPlugin(folder) {
	return {
		name: 'places of modules',
		setup(build) {
			build.onLoad({ filter: /[\\/](src|workers|bench|test)[\\/].*\.tsx?$/ }, ({ path }) => {
				if (path.includes('node_modules')) return undefined;
				const place = path === WORKER_ENTRY_FILE ? join(folder, basename(path)) : path;
				// In the first line, so that all others keep their numbers.
				const address = `const addressOfThisModule = ${JSON.stringify(pathToFileURL(place).href)};`;
				return { contents: `${address} ${readFileSync(path, 'utf8')}`, loader: extname(path).slice(1) };
			});
		},
	};
}

function withoutEnding(path) {
	return path.slice(0, -extname(path).length);
}
