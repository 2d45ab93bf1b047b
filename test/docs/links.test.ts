import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { anchorsOf, type Page, pages, prose, root, targetsOf } from './markdown.ts';

const all = pages();
const byPath = new Map(all.map((page) => [page.path, page]));

test('has an existing file and heading for every link of a page', () => {
	const broken = all.flatMap((page) =>
		targetsOf(page)
			.filter((target) => !/^[a-z]+:/.test(target))
			.filter((target) => !leadsSomewhere(page, target))
			.map((target) => `${page.path}: ${target}`),
	);
	assert.deepEqual(broken, []);
	// The pages themselves are found.
	assert.ok(byPath.has('README.md') && byPath.has('docs/architecture.md'));
});

test('names only existing files', () => {
	const missing = all.flatMap((page) =>
		[...page.text.matchAll(/(?<![\w./@-])(?:src|workers|test|bench|docs|scripts|examples|deploy|\.ci)\/[\w./-]*\w/g)]
			.map(([name]) => name)
			.filter((name) => !existsSync(join(root, name)))
			.map((name) => `${page.path}: ${name}`),
	);
	assert.deepEqual(missing, []);
});

test('names only existing npm scripts', () => {
	const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
	const unknown = all.flatMap((page) =>
		[...page.text.matchAll(/\bnpm run ([a-z0-9:]+)/g)]
			.map(([, name = '']) => name)
			.filter((name) => !(name in scripts))
			.map((name) => `${page.path}: npm run ${name}`),
	);
	assert.deepEqual(unknown, []);
});

test('links every page of docs from the README', () => {
	const reached = new Set<string>();
	const follow = (path: string) => {
		const page = byPath.get(path);
		if (!page || reached.has(path)) return;
		reached.add(path);
		for (const target of targetsOf(page)) follow(resolved(page, target.split('#')[0] as string));
	};
	follow('README.md');
	const unreached = all.map(({ path }) => path).filter((path) => path.startsWith('docs/') && !reached.has(path));
	assert.deepEqual(unreached, []);
});

test('keeps the README within 180 lines', () => {
	const lines = byPath.get('README.md')?.text.trimEnd().split('\n').length ?? 0;
	assert.ok(lines <= 180, `${lines} lines: move what is more to docs/`);
});

test('closes every code block', () => {
	const open = all.filter((page) => /^```/m.test(prose(page))).map(({ path }) => path);
	assert.deepEqual(open, []);
});

function leadsSomewhere(page: Page, target: string): boolean {
	const [file = '', anchor] = target.split('#');
	const path = file === '' ? page.path : resolved(page, file);
	if (!existsSync(join(root, path))) return false;
	if (anchor === undefined) return true;
	const linked = byPath.get(path);
	return linked !== undefined && anchorsOf(linked).has(anchor);
}

function resolved(page: Page, file: string): string {
	return normalize(join(dirname(page.path), file));
}
