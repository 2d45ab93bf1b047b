import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Page, root, tableOf, uncoded } from './markdown.ts';

const path = 'docs/architecture.md';
const page: Page = { path, text: readFileSync(join(root, path), 'utf8') };

test('each row of "Where is what?" names a file of which exactly one line has the text', () => {
	const rows = tableOf(page, 'question');
	assert.ok(rows.length >= 20);
	const wrong = rows.filter(([, file = '', fragment = '']) => {
		const lines = readFileSync(join(root, uncoded(file)), 'utf8').split('\n');
		return lines.filter((line) => line.includes(uncoded(fragment))).length !== 1;
	});
	assert.deepEqual(
		wrong.map(([question, file, fragment]) => `${question} ${file} ${fragment}`),
		[],
	);
});

test('has the same table of modules as the import rules', () => {
	const { forbidden } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs')) as {
		forbidden: Array<{ name: string; to: { pathNot?: string | string[] } }>;
	};
	const rules = forbidden.flatMap(({ name, to }): Array<[string, string[]]> => {
		const module = /^(.+)-imports-upwards$/.exec(name)?.[1];
		const others = /\(([^)]*)\)/.exec(String(to.pathNot))?.[1]?.split('|') ?? [];
		return module === undefined ? [] : [[module, others.filter((other) => other !== module).sort()]];
	});
	const listed = new Map<string, string[]>();
	for (const [modules = '', , imports = ''] of tableOf(page, 'module')) {
		for (const module of modules.split(', ').map(uncoded)) listed.set(module, importsOf(imports, [...listed.keys()]));
	}
	for (const [module, others] of rules) assert.deepEqual(listed.get(module), others, module);
	const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.map(({ name }) => name);
	assert.deepEqual([...listed.keys()].sort(), folders.sort());
});

/** The modules in a cell of the table. `above`: those of the rows before. */
function importsOf(cell: string, above: readonly string[]): string[] {
	if (cell === '–') return [];
	const [, except] = /^all above but (.+)$/.exec(cell) ?? [];
	const named =
		except === undefined ? cell.split(', ') : above.filter((module) => !except.split(', ').includes(module));
	return [...named].sort();
}
