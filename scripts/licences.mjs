// The licences of the packages in a bundle. Nearly all of them must be part of every copy.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

const TEXTS = /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i;

/** The licence texts of Parley and of every package that one of these files belongs to. */
export function licences(files) {
	const packages = new Set(files.map(packageOf).filter((folder) => folder !== null));
	const parts = [...packages].sort().map((folder) => {
		const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
		const texts = readdirSync(join(root, folder)).filter((file) => TEXTS.test(file));
		return section(`${name} ${version} (${license})`, folder, texts.sort());
	});
	return [section('Parley', '.', ['LICENSE']), ...parts].join('\n');
}

function section(title, folder, texts) {
	const read = (file) => `${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
	return `${'='.repeat(title.length)}\n${title}\n${'='.repeat(title.length)}\n\n${texts.map(read).join('\n')}`;
}

/** The folder of the package that a file belongs to; null for a file of this project. */
function packageOf(file) {
	const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
	return folder !== undefined && existsSync(join(root, folder, 'package.json')) ? folder : null;
}
