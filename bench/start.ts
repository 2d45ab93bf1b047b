/**
 * npm run bench -- start
 *
 * Measures the time from spawning the process to the line that says where it listens: the build on this Node, and the executable if
 * `npm run build:binary` has made it, with its files unpacked already (warm) and not (cold); and the memory of each before the first
 * request. Takes under half a minute.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from '../test/support/server-process.ts';
import { Report } from './report/report.ts';
import { measureStarts, type NamedProgram } from './start/starts.ts';

const ROUNDS = 5;
const COLD_ROUNDS = 3;
const build = fileURLToPath(new URL('../.build/', import.meta.url));

const report = new Report('start');
const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
try {
	const onNode: Program = { command: process.execPath, args: [join(build, 'main.js')], env: {} };
	const file = join(build, 'parley');
	const binary: Program = { command: file, args: [], env: { PARLEY_CACHE_DIR: join(folder, 'cache') } };
	const programs: NamedProgram[] = [{ name: 'the build on this Node', program: onNode }];
	if (existsSync(file)) programs.push({ name: 'the one executable', program: binary });
	report.add(...(await measureStarts(programs, { folder, rounds: ROUNDS, coldRounds: COLD_ROUNDS })));
} finally {
	await rm(folder, { recursive: true, force: true });
}
await report.close();
