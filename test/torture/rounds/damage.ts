import assert from 'node:assert/strict';
import { cp, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFile } from '../../../src/store/index.ts';
import { runProgram } from '../../support/run-command.ts';
import { until } from '../../support/until.ts';
import { checkServer, UnreadableError } from '../check.ts';
import type { World } from '../world.ts';
import type { Round } from './round.ts';

const LOAD_MS = 700;
/** SQLite begins to copy a log of this size into the database: 1,000 frames. */
const CHECKPOINT_BYTES = 1_000 * (4_096 + 24);
/** The sentence of a server that does not start, or an error of the API. A stack is neither. */
const REFUSED = /^(parley: .* is damaged: .*\. \(SQLITE_\w+\)|Delete .*)$/;
/** The same where a checkpoint has copied a part of the commits that cannot be read. */
const COPIED_LOG_REFUSED =
	/^parley: .* is damaged: .*write-ahead log .* cannot continue without them\. Restore a backup\.$/m;
/** The sentence of a server whose log is damaged in its middle. */
const LOG_REFUSED = /^parley: .* is damaged: .*write-ahead log .* run "parley database repair" .*\.$/m;

/**
 * Truncated and damaged files. The log has a checksum in each frame: the server refuses to start, and after a repair it has the state before the damage. A page of the database has
 * none: damage to its structure is an error or a finding of `parley doctor`; a changed character of a text is not noticed.
 */
export const damage: Round = {
	name: 'damage',
	summary: 'bits of the database or its log are flipped, or a file ends early',
	repeats: { short: 2, long: 16 },
	rounds: 4,
	skip: () => false,
	async run(world, repeats) {
		{
			// Its end writes the scene into the database, so that no state before the damage of the log lacks it.
			await using server = await world.start();
			assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
		}
		{
			await using server = await world.start();
			const load = world.load(server);
			await until('changes are acknowledged', () => world.ledger.acknowledged > 10);
			await sleep(LOAD_MS);
			await server.kill();
			await load.stop();
		}
		for (let at = 0; at < repeats; at++) {
			const dataDir = join(world.folder, `damaged-${at}`);
			await cp(world.dataDir, dataDir, { recursive: true });
			const isLog = at % 2 === 0;
			const { size } = await stat(databaseFile(dataDir) + (isLog ? '-wal' : ''));
			const what = await damageFile(world, databaseFile(dataDir) + (isLog ? '-wal' : ''));
			// Of a log that was cut nothing tells whether a checkpoint had copied what is gone.
			const isExact = isLog && (what !== 'truncation' || size < CHECKPOINT_BYTES);
			const { out } = await runProgram(dataDir, ['doctor']);
			const isFound = /^FAILED +database /m.test(out);
			const end = await startOn(world, dataDir, isLog, isExact);
			world.count(`${what} of the ${isLog ? 'log' : 'database'}: ${end}${isFound ? ', found by the doctor' : ''}`);
			await rm(dataDir, { recursive: true });
		}
	},
};

async function damageFile({ random }: World, path: string): Promise<string> {
	const { size } = await stat(path);
	const file = await open(path, 'r+');
	try {
		if (random.chance(0.3)) {
			await file.truncate(random.between(0, size - 1));
			return 'truncation';
		}
		const byte = Buffer.alloc(1);
		for (let bits = random.between(1, 8); bits > 0; bits--) {
			const position = random.between(0, size - 1);
			await file.read(byte, 0, 1, position);
			byte[0] = (byte[0] as number) ^ (1 << random.between(0, 7));
			await file.write(byte, 0, 1, position);
		}
		return 'flipped bits';
	} finally {
		await file.close();
	}
}

/** Starts a server on damaged files. Returns what happens. @throws Error when it shows wrong data although a checksum tells */
async function startOn(world: World, dataDir: string, isLog: boolean, isExact: boolean): Promise<string> {
	const server = await world.start({ dataDir }).catch((error: Error) => error);
	if (server instanceof Error && isLog && LOG_REFUSED.test(server.message)) {
		const { code, err } = await runProgram(dataDir, ['database', 'repair']);
		assert.equal(code, 0, err);
		return `refused, then ${await startOn(world, dataDir, isLog, isExact)}`;
	}
	if (server instanceof Error && isLog && COPIED_LOG_REFUSED.test(server.message)) {
		const before = await readFile(`${databaseFile(dataDir)}-wal`);
		const { code, err } = await runProgram(dataDir, ['database', 'repair']);
		assert.equal(code, 1, err);
		assert.match(err, /cannot be repaired: .* Nothing was changed\. Restore a backup\.\n$/);
		assert.deepEqual(await readFile(`${databaseFile(dataDir)}-wal`), before);
		return 'refused, and so is the repair after a checkpoint';
	}
	if (server instanceof Error) {
		const [, ...lines] = server.message.trim().split('\n');
		assert.ok(
			lines.every((line) => REFUSED.test(line)),
			server.message,
		);
		return 'the server refuses to start';
	}
	try {
		const { compared, faults } = await checkServer(server, world.ledger, world.sceneOfServers, 'any');
		world.figures.starts++;
		world.figures.compared += compared;
		// Without a checksum, wrong data cannot be told from right data.
		if (isExact) assert.deepEqual(faults, [], server.output());
		return faults.length === 0 ? 'a consistent state' : 'a changed state';
	} catch (error) {
		if (!(error instanceof UnreadableError)) throw error;
		if (!isExact && error.message.includes('"code":"not_found"')) return 'a changed state';
		assert.match(error.message, /"code":"(internal_error|unavailable)","message":"[A-Z][^"]*\."/);
		return 'errors of the API';
	} finally {
		await server.kill();
	}
}
