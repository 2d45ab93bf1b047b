// example.env: every setting with its default, commented out, generated from src/config. `npm run docs` updates it, and `npm run check`
// checks it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { put, root } from './project.mjs';

const FILE = 'example.env';
const WIDTH = 120;
const HEAD = `# The settings of Parley with their defaults. A line counts once its "#" is removed; an empty value counts as not set.
# Node reads the file with --env-file=FILE, systemd with EnvironmentFile=FILE, Docker with --env-file FILE.
# docs/configuration.md says more.
`;

/** A sentence if the file is out of date. */
export async function gapsInExampleEnv() {
	if (readFileSync(join(root, FILE), 'utf8') === (await exampleEnv())) return [];
	return [`${FILE}: it is not what src/config/settings.ts says. Run "npm run docs".`];
}

/** Writes the file. */
export async function updateExampleEnv() {
	put(FILE, await exampleEnv());
}

async function exampleEnv() {
	const { tsImport } = await import('tsx/esm/api');
	const { SETTINGS, SettingsSchema } = await tsImport('../src/config/index.ts', import.meta.url);
	const settings = Object.entries(SETTINGS).map(([field, { variable, description }]) => {
		const value = textOf(SettingsSchema.properties[field].default);
		return `\n${wrapped(description)}\n# ${variable}=${value}\n`;
	});
	return HEAD + settings.join('');
}

/** A default in the form of an environment variable. */
function textOf(value) {
	if (value === undefined || (Array.isArray(value) && value.length === 0)) return '';
	return typeof value === 'boolean' ? String(Number(value)) : String(value);
}

/** A sentence as comment lines. */
function wrapped(sentence) {
	const lines = ['##'];
	for (const word of sentence.split(' ')) {
		if (`${lines.at(-1)} ${word}`.length > WIDTH) lines.push('##');
		lines[lines.length - 1] += ` ${word}`;
	}
	return lines.join('\n');
}
