// Node 22 of a pinned version, from the npm package that has its executable and the headers for native parts.
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ensureNpmPackage } from './npm-package.mjs';
import { findProgram, root, run, say, UserError } from './project.mjs';

export const NODE_22 = '22.23.3';
/** The version of the interface for native parts (NODE_MODULE_VERSION) of Node 22. */
export const NODE_22_MODULES = '127';

/** SHA-512 of the packages, as package-lock.json has it for others. */
const INTEGRITY = {
	x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
	arm64: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
};

/** Why Node 22 cannot be had for this system; null if it can. */
export function node22UnsupportedReason() {
	if (process.platform === 'linux' && process.arch in INTEGRITY) return null;
	return `The npm registry has Node ${NODE_22} for Linux on x64 and arm64 only; this is ${process.platform} on ${process.arch}.`;
}

/**
 * Node 22, unpacked once into .build/.
 * @returns the folder of the package, with bin/node and include/
 */
export async function ensureNode22() {
	const why = node22UnsupportedReason();
	if (why !== null) throw new UserError(why);
	return ensureNpmPackage(`node-linux-${process.arch}`, NODE_22, INTEGRITY[process.arch]);
}

/** The environment in which `node`, and what npm compiles, is this Node 22. */
export function node22Environment(folder) {
	return { PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`, npm_config_nodedir: folder };
}

/**
 * better-sqlite3 for Node 22, compiled once from the sources of the installed package, in a copy.
 * @returns the path of its native part
 */
export async function ensureSqliteForNode22(folder) {
	const source = join(root, 'node_modules/better-sqlite3');
	const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
	const compiled = join(folder, `better-sqlite3-${version}.node`);
	if (existsSync(compiled)) return compiled;
	say(`Compiling better-sqlite3 for Node ${NODE_22}; this takes a minute or two, once …`);
	const copy = mkdtempSync(join(folder, 'better-sqlite3-'));
	try {
		for (const part of ['binding.gyp', 'deps', 'src', 'package.json']) {
			cpSync(join(source, part), join(copy, part), { recursive: true });
		}
		const { code, output } = await run(
			join(folder, 'bin/node'),
			[nodeGyp(), 'rebuild', '--release', `--nodedir=${folder}`],
			{ cwd: copy, env: node22Environment(folder), quiet: true },
		);
		if (code !== 0) {
			throw new UserError(
				`better-sqlite3 could not be compiled, which needs python3, make and g++:\n${output.trim().split('\n').slice(-20).join('\n')}`,
			);
		}
		renameSync(join(copy, 'build/Release/better_sqlite3.node'), compiled);
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
	return compiled;
}

/** node-gyp is a part of npm. */
function nodeGyp() {
	const npmProgram = findProgram('npm');
	const scripts = [process.env.npm_execpath, npmProgram].filter((path) => path?.length > 0);
	for (const script of scripts) {
		try {
			return createRequire(realpathSync(script)).resolve('node-gyp/bin/node-gyp.js');
		} catch {}
	}
	throw new UserError('node-gyp, which is a part of npm, was not found: npm is not on the PATH.');
}
