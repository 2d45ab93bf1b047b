// npm run test:service: boots Debian in a container of systemd-nspawn. There deploy/parley.service and the package of npm run build:deb
// are installed and used as docs/operations.md describes. Needs root, systemd-nspawn and a mirror of Debian. Option: --root=FOLDER, a Debian
// from debootstrap instead of a new one.
import {
	chmodSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { binary } from './binary.mjs';
import { buildDeb } from './deb.mjs';
import { debianFolder } from './debian-folder.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureContainers } from './programs.mjs';
import { main, root, run, say, UserError } from './project.mjs';

const INCLUDED = ['adduser', 'init-system-helpers', 'systemd', 'systemd-sysv', 'dbus', 'curl'];
const VERSION = '0.0.1~test1';
/** The container is ended after this time (seconds). */
const DEADLINE = '300';
const OUTPUT = 'root/steps.txt';
const DONE = 'ALL STEPS ARE DONE';

const UNIT_OF_STEPS = `[Service]
Type=oneshot
ExecStart=/root/steps
ExecStopPost=/bin/systemctl poweroff
StandardOutput=file:/${OUTPUT}
StandardError=inherit
`;

const STEPS = String.raw`#!/bin/bash
set -euo pipefail
step() { echo "- $*"; }
trap 'systemctl status parley --no-pager --lines=0 || true; journalctl --unit parley --no-pager --lines=30' ERR
ready() {
	for _ in $(seq 300); do
		if curl --silent --fail http://127.0.0.1:8080/readyz; then echo; return; fi
		sleep 0.2
	done
	return 1
}
show() { systemctl show parley --property="$1" --value; }
key() { sed -n 's/^API key: *//p' "$1"; }
backups() { find /var/lib/parley-backups/ -name '*.tar' | wc -l; }

step the unit starts, and writes its first key to a file
systemctl enable --now parley
ready
KEY=$(key /var/lib/parley/first-start.txt)
curl --silent --fail --header "Authorization: Bearer $KEY" http://127.0.0.1:8080/api/v1/assistants

step its user is not root, and its folders are private
test "$(stat --format=%u /proc/"$(show MainPID)")" != 0
test "$(stat --format=%a /var/lib/private/parley)" = 700

step the server makes a backup in the folder of the drop-in
for _ in $(seq 300); do test "$(backups)" -gt 0 && break; sleep 0.2; done
test "$(backups)" = 1

step the command for cron makes a backup beside it
/root/backup
test "$(backups)" = 2

step a killed server is started again
PID=$(show MainPID)
systemctl kill --signal=KILL --kill-whom=main parley
for _ in $(seq 300); do test "$(show MainPID)" != 0 && test "$(show MainPID)" != "$PID" && break; sleep 0.2; done
ready
test "$(show NRestarts)" = 1

step a restart keeps what is stored, and a stop succeeds
systemctl restart parley
ready
curl --silent --fail --header "Authorization: Bearer $KEY" http://127.0.0.1:8080/api/v1/assistants
systemctl stop parley
test "$(show Result) $(show ExecMainStatus)" = 'success 0'

step the package starts its own unit
systemctl disable parley
rm -r /etc/systemd/system/parley.service /etc/systemd/system/parley.service.d /var/lib/parley /var/lib/private/parley /var/cache/parley
systemctl daemon-reload
dpkg --install /root/parley.deb
ready
KEY=$(key /var/lib/parley/first-start.txt)
curl --silent --fail --header "Authorization: Bearer $KEY" http://127.0.0.1:8080/api/v1/assistants
/root/doctor

step a reinstallation restarts it, and a purge stops it
PID=$(show MainPID)
dpkg --install /root/parley.deb
ready
test "$(show MainPID)" != "$PID"
dpkg --purge parley
test "$(systemctl is-active parley || true)" = inactive

echo '${DONE}'
`;

await main(async () => {
	if (process.getuid() !== 0) throw new UserError('A container needs root.');
	await ensureInstalled();
	if ((await ensureContainers()) === null) return 1;
	const deb = await buildDeb(VERSION);
	const given = process.argv.find((arg) => arg.startsWith('--root='))?.slice('--root='.length);
	const folder = given ?? (await debianFolder(INCLUDED));
	try {
		prepare(folder, deb);
		say('Booting it …');
		const container = ['--directory', folder, '--boot', '--private-network', '--register=no', '--keep-unit'];
		const { output } = await run(
			'timeout',
			[DEADLINE, 'systemd-nspawn', '--quiet', '--console=pipe', '--machine', `parley-${process.pid}`, ...container],
			{ quiet: true },
		);
		const steps = existsSync(join(folder, OUTPUT)) ? readFileSync(join(folder, OUTPUT), 'utf8') : output;
		if (!steps.trimEnd().endsWith(DONE)) {
			process.stderr.write(`${steps}\nThe step above failed.\n`);
			return 1;
		}
		say('The unit and the package work under systemd.');
		return 0;
	} finally {
		if (given === undefined) rmSync(folder, { recursive: true, force: true });
		rmSync(deb);
	}
});

/** Installs the unit as its head describes, with the drop-in and the command of cron of docs/operations.md, and a service that runs the steps. */
function prepare(folder, deb) {
	const write = (path, text) => {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), text);
	};
	const pages = readFileSync(join(root, 'docs/operations.md'), 'utf8');
	const find = (pattern) => {
		const found = pattern.exec(pages)?.[1];
		if (found === undefined) throw new Error(`docs/operations.md has nothing like ${pattern}.`);
		return found;
	};
	copyFileSync(binary, join(folder, 'usr/local/bin/parley'));
	chmodSync(join(folder, 'usr/local/bin/parley'), 0o755);
	copyFileSync(deb, join(folder, 'root/parley.deb'));
	copyFileSync(join(root, 'deploy/parley.service'), join(folder, 'etc/systemd/system/parley.service'));
	write('etc/systemd/system/parley.service.d/override.conf', find(/```\n(\[Service\]\nStateDirectory=[^`]*)```/));
	write('root/backup', `#!/bin/sh\n${find(/^17 \*\/6 \* \* \* {2}root {2}(systemd-run .*)$/m)}\n`);
	// Without a terminal.
	write('root/doctor', `#!/bin/sh\n${find(/^ *(systemd-run --pty[^`]* doctor)$/m).replace('--pty', '--pipe')}\n`);
	write('root/steps', STEPS);
	for (const path of ['backup', 'doctor', 'steps']) chmodSync(join(folder, 'root', path), 0o755);
	write('etc/systemd/system/steps.service', UNIT_OF_STEPS);
	const wanted = join(folder, 'etc/systemd/system/multi-user.target.wants/steps.service');
	mkdirSync(dirname(wanted), { recursive: true });
	rmSync(wanted, { force: true });
	rmSync(join(folder, OUTPUT), { force: true });
	symlinkSync('../steps.service', wanted);
}
