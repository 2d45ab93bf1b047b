import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from './server-process.ts';

const build = fileURLToPath(new URL('../../.build/', import.meta.url));
/** Before it, the schema of PostgreSQL is complete. */
const SCHEMA =
	/(\/\/ src\/store\/postgres\/schema\/migrations\.ts\n[\s\S]*?)(var SCHEMA_VERSION\d* = (MIGRATIONS\d*)\.length;)/;

/** Files with a function of PostgreSQL, or with its call. */
const FUNCTION_FILES = /^[\s\S]*\bcommit_batch\b[\s\S]*$/;

/** How long a lease holds. */
const LEASE = /(\/\/ src\/store\/placement\.ts\n[\s\S]*?var LEASE_MS\d* = )3e3;/;

/** A version of the built server. */
export interface ServerVersion extends AsyncDisposable {
	program: Program;
	version: string;
}

/**
 * Copies the built server as a version with further steps of PostgreSQL's schema. Its leases hold for two minutes: a busy machine must not
 * take a node for an ended one.
 * @param steps each adds a column and a table. @param hasOtherFunctions whether it calls a function of PostgreSQL by another name
 */
export async function makeVersion(steps: number, { hasOtherFunctions = false } = {}): Promise<ServerVersion> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-version-'));
	const { outputs } = JSON.parse(await readFile(join(build, 'stamp.json'), 'utf8')) as { outputs: string[] };
	for (const path of outputs) await cp(join(build, path), join(folder, path));
	const change = async (pattern: RegExp, replace: (found: RegExpExecArray) => string) => {
		let changed = 0;
		for (const name of (await readdir(folder)).filter((name) => name.endsWith('.js'))) {
			const text = await readFile(join(folder, name), 'utf8');
			const found = pattern.exec(text);
			if (found === null) continue;
			changed++;
			await writeFile(
				join(folder, name),
				text.replace(found[0], () => replace(found)),
			);
		}
		if (changed === 0) throw new Error(`No file of the build has ${pattern}.`);
	};
	const more = Array.from({ length: steps }, (_, step) => JSON.stringify(stepOf(step))).join(', ');
	await change(SCHEMA, ([, before, last, migrations]) => `${before}${migrations}.push(${more});\n${last}`);
	await change(LEASE, ([, before]) => `${before}12e4;`);
	if (hasOtherFunctions) await change(FUNCTION_FILES, ([text]) => text.replaceAll('commit_batch', 'commit_together'));
	const version = `9.${steps}.${hasOtherFunctions ? 1 : 0}`;
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
