import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

interface Group {
	name: string;
	files: string[];
}

interface Bundle {
	bundled: string[];
	stateFiles: string[];
	remove(): void;
}

interface Watch {
	aborted: AbortSignal;
	stop(): void;
}

const load = async (name: string) => import(new URL(`../../scripts/${name}`, import.meta.url).href);
const { testGroups }: { testGroups(paths: string[]): Group[] } = await load('test-groups.mjs');
const { filesBelow }: { filesBelow(folder: string, takes: (path: string) => boolean): string[] } =
	await load('project.mjs');
const { bundleTests }: { bundleTests(groups: Group[]): Promise<Bundle> } = await load('test-bundle.mjs');
const { watchGroups }: { watchGroups(stateFiles: string[], options: { deadlines: object }): Watch } =
	await load('test-deadlines.mjs');

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
	'open timer': { j: passing('j'), k: `setInterval(() => {}, 1000); ${passing('k')}` },
	'endless test': {
		l: "import test from 'node:test'; test('waits', () => new Promise((resolve) => setTimeout(resolve, 2 ** 30)));",
	},
	'held output': {
		n: `import { spawn } from 'node:child_process';
			import test from 'node:test';
			test('leaves a process', () => {
				const { pid } = spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'ignore'], detached: true });
				process.stdout.write(\`left \${pid}\\n\`);
			});
			process.on('beforeExit', () => process.exit());`,
	},
	'early exit': { h: "import test from 'node:test'; test('exits', () => process.exit(0));", i: passing('i') },
};

let folder: string;
let bundle: Bundle;

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

/** Runs a group as `npm test` does. @param deadlines in milliseconds; absent: the group is not watched */
function run(group: string, deadlines?: object): Promise<{ code: number | string; output: string; ran: string[] }> {
	const index = Object.keys(GROUPS).indexOf(group);
	// Without the runner's variable, which would make the run report as one of this file's tests.
	const { NODE_TEST_CONTEXT: _, ...env } = process.env;
	const watch = deadlines && watchGroups([bundle.stateFiles[index] as string], { deadlines });
	const args = ['--test', '--test-reporter=tap', bundle.bundled[index] as string];
	return new Promise((resolve) => {
		execFile(process.execPath, args, { env, signal: watch?.aborted }, (error, stdout, stderr) => {
			watch?.stop();
			const ran = [...stdout.matchAll(/\bran (\w)\b/g)].map(([, name = '']) => name);
			resolve({ code: error?.code ?? 0, output: stdout + stderr, ran });
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

const LONG = 600_000;

test('a process that does not exit after its last file fails the run and says what keeps it alive', async () => {
	const { code, output, ran } = await run('open timer', { file: LONG, exit: 1_000, report: LONG, interval: 50 });
	assert.deepEqual([code, ran], [1, ['j', 'k']], output);
	assert.match(output, /still alive because of: .*Timeout/);
});

test('a test that never ends fails the run', async () => {
	const { code, output } = await run('endless test', { file: 1, exit: LONG, report: LONG, interval: 50 });
	assert.equal(code, 1, output);
	assert.match(output, /exited with 1 before the tests of .*l\.test\.ts had ended/);
});

test('a process that is blocked is killed', async (t) => {
	const code = "process.on('SIGUSR2', () => {}); process.stdout.write('blocked', () => { for (;;); })";
	// It is known by the folder among its arguments.
	const child = spawn(process.execPath, ['-e', code, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
	t.after(() => child.kill('SIGKILL'));
	await once(child.stdout, 'data');
	const stateFile = join(folder, 'blocked.state.json');
	await writeFile(stateFile, JSON.stringify({ pid: child.pid, file: 'm.test.ts', hasEnded: false }));
	const watch = watchGroups([stateFile], { deadlines: { file: 1, exit: LONG, report: 100, interval: 50 } });
	t.after(() => watch.stop());
	const [, signal] = await once(child, 'exit');
	assert.equal(signal, 'SIGKILL');
});

test('a process that holds the output of a test process that has exited does not keep the run from ending', async () => {
	const { code, output } = await run('held output', { file: LONG, exit: 500, report: LONG, interval: 50 });
	const pid = Number(/left (\d+)/.exec(output)?.[1]);
	assert.ok(pid > 0, output);
	process.kill(pid, 'SIGKILL');
	assert.equal(code, 'ABORT_ERR', output);
});
