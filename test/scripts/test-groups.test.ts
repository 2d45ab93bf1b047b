import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

interface Group {
	name: string;
	files: string[];
}

const load = async (name: string) => import(new URL(`../../scripts/${name}`, import.meta.url).href);
const { testGroups }: { testGroups(paths: string[]): Group[] } = await load('test-groups.mjs');
const { filesBelow }: { filesBelow(folder: string, takes: (path: string) => boolean): string[] } =
	await load('project.mjs');
const { bundleTests }: { bundleTests(groups: Group[]): Promise<{ bundled: string[]; remove: () => void }> } =
	await load('test-bundle.mjs');

const root = fileURLToPath(new URL('../../', import.meta.url));
const isTest = (path: string) => path.endsWith('.test.ts');

/** A test file that prints its name when its test runs. */
const passing = (name: string) => `import test from 'node:test'; test('passes', () => console.log('ran ${name}'));`;

/** The files of each group, by group. */
const GROUPS: Record<string, Record<string, string>> = {
	passing: { a: passing('a'), b: passing('b'), c: passing('c') },
	'failed test': {
		d: "import test from 'node:test'; test('fails', () => { throw new Error('no'); });",
		e: passing('e'),
	},
	'failed import': { f: "throw new Error('This file cannot be imported.');", g: passing('g') },
	'early exit': { h: "import test from 'node:test'; test('exits', () => process.exit(0));", i: passing('i') },
};

let folder: string;
let bundle: Awaited<ReturnType<typeof bundleTests>>;

before(async () => {
	folder = await mkdtemp(join(tmpdir(), 'parley-groups-'));
	const groups: Group[] = [];
	for (const [index, files] of Object.values(GROUPS).entries()) {
		const paths = Object.keys(files).map((name) => join(folder, `${name}.test.ts`));
		for (const [at, text] of Object.values(files).entries()) await writeFile(paths[at] as string, text);
		groups.push({ name: `group-${index}`, files: paths.map((path) => relative(root, path)) });
	}
	bundle = await bundleTests(groups);
});

after(async () => {
	bundle?.remove();
	await rm(folder, { recursive: true, force: true });
});

/** Runs a group as `npm test` does. */
function run(group: string): Promise<{ code: number; output: string; ran: string[] }> {
	const file = bundle.bundled[Object.keys(GROUPS).indexOf(group)] as string;
	// Without the runner's variable, which would make the run report as one of this file's tests.
	const { NODE_TEST_CONTEXT: _, ...env } = process.env;
	return new Promise((resolve) => {
		execFile(process.execPath, ['--test', '--test-reporter=tap', file], { env }, (error, stdout, stderr) => {
			const ran = [...stdout.matchAll(/\bran (\w)\b/g)].map(([, name = '']) => name);
			resolve({ code: Number(error?.code ?? 0), output: stdout + stderr, ran });
		});
	});
}

test('every test file is in exactly one group', () => {
	const all = filesBelow('test', isTest);
	const groups = testGroups(all);
	assert.ok(all.length > 300);
	assert.deepEqual(groups.flatMap(({ files }) => files).sort(), [...all].sort());
	const names = groups.map(({ name }) => name);
	assert.deepEqual([...new Set(names)].sort(), names);
});

test('a file that asks for its own process is alone in its group', () => {
	const groups = testGroups(filesBelow('test', isTest));
	const alone = groups.find(({ files }) => files.includes('test/net/alone.test.ts'));
	assert.deepEqual(alone?.files, ['test/net/alone.test.ts']);
});

test('a group runs each of its files once, in order', async () => {
	const { code, output, ran } = await run('passing');
	assert.deepEqual([code, ran], [0, ['a', 'b', 'c']], output);
});

test('a failed test fails the run, and the files after it run', async () => {
	const { code, output, ran } = await run('failed test');
	assert.deepEqual([code, ran], [1, ['e']], output);
	assert.match(output, /not ok .*d\.test\.ts/);
});

test('a file that cannot be imported fails the run by name, and the files after it run', async () => {
	const { code, output, ran } = await run('failed import');
	assert.deepEqual([code, ran], [1, ['g']], output);
	assert.match(output, /not ok .*f\.test\.ts/);
	assert.match(output, /This file cannot be imported/);
});

test('a process that exits before its last file has ended fails the run and names the file', async () => {
	const { code, output, ran } = await run('early exit');
	assert.deepEqual([code, ran], [1, []], output);
	assert.match(output, /exited with 0 before the tests of .*h\.test\.ts had ended/);
});
