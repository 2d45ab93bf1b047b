import { existsSync } from 'node:fs';

/** A worker's script and its Node options. */
export interface WorkerEntry {
	file: URL;
	execArgv: string[];
}

const IMPORT_ONLY = '--no-experimental-require-module';
/**
 * Makes Piscina import a worker's module. Otherwise it requires it first, and Node aborts the whole process if the thread is ended
 * meanwhile. The versions of Node without the option require no such modules.
 */
const NODE_OPTIONS = process.allowedNodeEnvironmentFlags.has(IMPORT_ONLY) ? [IMPORT_ONLY] : [];

/**
 * Finds a worker's script: beside the bundled server, or in the top-level `workers/` folder when Parley runs from its
 * TypeScript sources (tests, development).
 */
export function workerEntry(name: 'parse' | 'parse-host' | 'embed' | 'search' | 'check' | 'store'): WorkerEntry {
	const bundled = new URL(`./workers/${name}.js`, import.meta.url);
	if (existsSync(bundled)) return { file: bundled, execArgv: NODE_OPTIONS };
	// `--import tsx` reaches only the main thread's loader; a thread must register it for itself.
	const register = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register();`;
	return {
		file: new URL(`../../workers/${name}.ts`, import.meta.url),
		execArgv: [...NODE_OPTIONS, '--import', `data:text/javascript,${encodeURIComponent(register)}`],
	};
}
