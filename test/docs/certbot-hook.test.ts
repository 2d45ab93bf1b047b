import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/run-command.ts';

const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const hook = /^```\n(#!\/bin\/sh\n[\s\S]*?)```$/m.exec(page)?.[1] ?? '';

for (const isActive of [true, false]) {
	const action = isActive ? 'and asks the server to read them' : 'also while the service is stopped';
	test(`the hook for certbot copies the files of a renewed certificate, ${action}`, async (t) => {
		const folder = await temporaryFolder(t);
		const dataDir = join(folder, 'data');
		const lineage = join(folder, 'live');
		const programs = join(folder, 'programs');
		for (const path of [dataDir, lineage, programs]) await mkdir(path);
		for (const name of ['privkey.pem', 'fullchain.pem']) await writeFile(join(lineage, name), `${name} of today`);
		const calls = join(folder, 'calls');
		const systemctl = `#!/bin/sh\necho "$@" >> ${calls}\n[ "$1" = kill ] || exit ${isActive ? 0 : 3}\n`;
		await writeFile(join(programs, 'systemctl'), systemctl, { mode: 0o755 });
		const script = hook.replaceAll('/var/lib/parley', dataDir);
		// Twice: the second renewal finds the folder and the files.
		for (let run = 0; run < 2; run++) {
			const env = { PATH: `${programs}:${process.env.PATH}`, RENEWED_LINEAGE: lineage };
			const { status, stderr } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
			assert.deepEqual([status, stderr], [0, '']);
		}
		for (const name of ['privkey.pem', 'fullchain.pem']) {
			const path = join(dataDir, 'tls', name);
			assert.equal(await readFile(path, 'utf8'), `${name} of today`);
			const [file, owner] = [await stat(path), await stat(dataDir)];
			assert.deepEqual([file.mode & 0o777, file.uid, file.gid], [0o600, owner.uid, owner.gid]);
		}
		const asked = isActive
			? ['is-active --quiet parley', 'kill --kill-whom=main --signal=HUP parley']
			: ['is-active --quiet parley'];
		assert.deepEqual((await readFile(calls, 'utf8')).trimEnd().split('\n'), [...asked, ...asked]);
	});
}
