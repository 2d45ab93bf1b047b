import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../support/programs.ts';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { program, startServer } from '../support/server-process.ts';

test('a server does not start if its folder for backups cannot be one, and a backup in the data folder is refused', async (t) => {
	const outer = await temporaryFolder(t);
	const dataDir = join(outer, 'data');
	const file = join(outer, 'file');
	await writeFile(file, 'mine');
	await mkdir(dataDir);
	await symlink(dataDir, join(outer, 'link'));
	for (const [folder, sentence] of [
		[file, /file cannot be written to: there is a file in the place of a folder\. \(EEXIST\)/],
		[
			join(file, 'below'),
			/below cannot be written to: there is a file in the place of a folder\. \((ENOTDIR|EEXIST)\)/,
		],
		['/proc/parley-backups', /\/proc\/parley-backups cannot be written to: the folder does not exist\. \(ENOENT\)/],
		[dataDir, /data is in the data folder: make backups in another one/],
		[join(dataDir, 'backups'), /backups is in the data folder: /],
		[join(outer, 'link', 'backups'), /backups is in the data folder: /],
	] as const) {
		const { code, err } = await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0', PARLEY_BACKUP_DIR: folder });
		assert.equal(code, 2, err);
		assert.ok(err.startsWith('parley: Backups (PARLEY_BACKUP_DIR) are not possible. '), err);
		assert.match(err, sentence);
	}
	assert.deepEqual(await readdir(dataDir), []);
	await using server = await startServer({ dataDir });
	for (const target of [`${join(dataDir, 'blobs')}/`, join(dataDir, 'backup.tar'), dataDir]) {
		const { code, err } = await runProgram(dataDir, ['backup', target]);
		assert.equal(code, 1, err);
		assert.match(err, /is in the data folder: make backups in another one, best on another disk\.$/m);
	}
	const names = (await readdir(dataDir, { recursive: true })).filter((name) => name.endsWith('.tar'));
	assert.deepEqual(names, []);
	await server.stop();
});

/** Calls that read the folder in SILENT_FOLDER never return, as for a network folder whose server is gone. */
const SILENT_FOLDER_SHIM = `
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for_answer(const char *path) {
	const char *silent = getenv("SILENT_FOLDER");
	while (silent && path && strcmp(path, silent) == 0) pause();
}

char *realpath(const char *path, char *resolved) {
	wait_for_answer(path);
	char *(*real)(const char *, char *) = dlsym(RTLD_NEXT, "realpath");
	return real(path, resolved);
}

DIR *opendir(const char *path) {
	wait_for_answer(path);
	DIR *(*real)(const char *) = dlsym(RTLD_NEXT, "opendir");
	return real(path);
}

int scandir64(const char *path, struct dirent64 ***names, int (*keep)(const struct dirent64 *),
	int (*order)(const struct dirent64 **, const struct dirent64 **)) {
	wait_for_answer(path);
	int (*real)(const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
		int (*)(const struct dirent64 **, const struct dirent64 **)) = dlsym(RTLD_NEXT, "scandir64");
	return real(path, names, keep, order);
}
`;

test('the server starts although its folder for backups does not answer, and the doctor says so', {
	skip:
		process.platform !== 'linux' ? 'skipped: LD_PRELOAD needs Linux' : !findProgram('cc') && 'skipped: there is no cc',
}, async (t) => {
	const outer = await temporaryFolder(t);
	const library = join(outer, 'silent-folder.so');
	const compiled = spawnSync('cc', ['-shared', '-fPIC', '-xc', '-o', library, '-', '-ldl'], {
		input: SILENT_FOLDER_SHIM,
	});
	assert.equal(compiled.status, 0, compiled.stderr.toString());
	const folder = join(outer, 'backups');
	await mkdir(folder);
	const env = { PARLEY_BACKUP_DIR: folder, LD_PRELOAD: library, SILENT_FOLDER: folder };
	await using server = await startServer({ env });
	assert.equal((await server.call('POST', '/api/v1/assistants', { name: 'While it waits' })).status, 201);
	const doctor = spawn(program.command, [...program.args, 'doctor'], {
		env: { PATH: process.env.PATH, PARLEY_DATA_DIR: server.dataDir, ...program.env, ...env },
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	t.after(() => doctor.kill('SIGKILL'));
	const seen =
		/^FAILED {2}backups .* cannot be listed: It does not answer within 10 seconds\. Check the disk or the network on which it is\.$/m;
	let out = '';
	for await (const bytes of doctor.stdout) {
		out += bytes;
		if (seen.test(out)) break;
	}
	assert.match(out, seen);
	// Threads of both still wait for the folder: only SIGKILL ends them.
	await server.kill();
});
