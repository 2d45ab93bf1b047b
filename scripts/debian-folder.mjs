// A Debian in a folder, in which the package and the service are tested.
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installProgram } from './programs.mjs';
import { run, say, UserError } from './project.mjs';

/** Installs a Debian with these packages into a temporary folder, by debootstrap. Needs root and a mirror. @returns the folder */
export async function debianFolder(packages) {
	if ((await installProgram('debootstrap')) === null) throw new UserError('debootstrap is missing.');
	const folder = mkdtempSync(join(tmpdir(), 'parley-debian-'));
	// The users inside must reach the root of their system.
	chmodSync(folder, 0o755);
	say('Installing a Debian in a folder …');
	const args = ['--variant=minbase', `--include=${packages.join(',')}`, 'bookworm', folder];
	const { code, output } = await run('debootstrap', args, { quiet: true });
	if (code !== 0) throw new UserError(`debootstrap failed:\n${output.trim().split('\n').slice(-5).join('\n')}`);
	return folder;
}
