import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from './server-process.ts';

const build = fileURLToPath(new URL('../../.build/', import.meta.url));
/** Before it, the schema of PostgreSQL is complete. */
const SCHEMA =
	/\/\/ src\/store\/postgres\/schema\/migrations\.ts\n[\s\S]*?var (SCHEMA_VERSION\d*) = (MIGRATIONS\d*)\.length;/;

/** A later version of the built server. */
export interface LaterVersion extends AsyncDisposable {
	program: Program;
	version: string;
}

/**
 * Copies the built server as a version with further steps of PostgreSQL's schema, and so with functions in a schema of its own.
 * @param steps each adds a column and a table
 */
export async function makeLaterVersion(steps: number): Promise<LaterVersion> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-version-'));
	const { outputs } = JSON.parse(await readFile(join(build, 'stamp.json'), 'utf8')) as { outputs: string[] };
	for (const path of outputs) await cp(join(build, path), join(folder, path));
	let changed = 0;
	for (const name of (await readdir(folder)).filter((name) => name.endsWith('.js'))) {
		const path = join(folder, name);
		const text = await readFile(path, 'utf8');
		const match = SCHEMA.exec(text);
		if (match === null) continue;
		changed++;
		const [found, , migrations] = match;
		const more = Array.from({ length: steps }, (_, step) => JSON.stringify(stepOf(step))).join(', ');
		const line = found.slice(found.lastIndexOf('\n') + 1);
		await writeFile(
			path,
			text.replace(line, () => `${migrations}.push(${more});\n${line}`),
		);
	}
	if (changed !== 1) throw new Error(`${changed} files of the build have the schema of PostgreSQL.`);
	const version = `9.${steps}.0`;
	await writeFile(
		join(folder, 'package.json'),
		JSON.stringify({ name: 'parley', version, private: true, type: 'module' }),
	);
	return {
		program: { command: process.execPath, args: [join(folder, 'main.js')], env: {} },
		version,
		[Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
	};
}

/** Only adds: the version before can go on. */
function stepOf(step: number): string {
	return `ALTER TABLE messages ADD COLUMN later_${step} text; CREATE TABLE later_${step} (id bigint PRIMARY KEY);
		CREATE INDEX messages_by_later_${step} ON messages (later_${step})`;
}
