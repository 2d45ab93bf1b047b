// Packages of the npm registry whose programs the tests need, and the server does not: each of one version, with its checksum.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root, run, say, UserError } from './project.mjs';

/**
 * A package, unpacked once into .build/.
 * @param integrity the SHA-512 of the package, as package-lock.json has it for others
 * @returns the folder of the package
 */
export async function ensureNpmPackage(name, version, integrity) {
	// npm names the archive of a package of an organization in this way.
	const plainName = name.replace(/^@/, '').replace('/', '-');
	const folder = join(root, '.build', `${plainName}-${version}`);
	if (existsSync(folder)) return folder;
	say(`Getting ${name} ${version} from the npm registry …`);
	mkdirSync(dirname(folder), { recursive: true });
	const partial = mkdtempSync(`${folder}-`);
	try {
		const { code, output } = await run(
			...npm('pack', '--silent', '--pack-destination', partial, `${name}@${version}`),
			{ quiet: true },
		);
		if (code !== 0)
			throw new UserError(`${name} ${version} could not be fetched from the npm registry:\n${output.trim()}`);
		const archive = join(partial, `${plainName}-${version}.tgz`);
		const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
		if (found !== integrity) throw new UserError(`${name}@${version} is not the package that is pinned.`);
		const unpacked = await run('tar', ['-xzf', archive, '-C', partial], { quiet: true });
		if (unpacked.code !== 0)
			throw new UserError(`${name}@${version} could not be unpacked:\n${unpacked.output.trim()}`);
		renameSync(join(partial, 'package'), folder);
	} finally {
		rmSync(partial, { recursive: true, force: true });
	}
	return folder;
}

/** The npm that started this script, else the one on PATH, as a command and its arguments. */
function npm(...args) {
	const script = process.env.npm_execpath;
	return script?.endsWith('npm-cli.js') ? [process.execPath, [script, ...args]] : ['npm', args];
}
