// npm run build:deb: the single executable as a package of Debian, with a unit for systemd, a user, and the settings as a conffile.
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { binary, ensureBinary } from './binary.mjs';
import { ensureInstalled } from './install.mjs';
import { findProgram, isEntry, main, root, run, say, UserError } from './project.mjs';

const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const MAINTAINER_SCRIPTS = ['postinst', 'prerm', 'postrm'];
const read = (path) => readFileSync(join(root, path), 'utf8');

/**
 * Builds the package.
 * @param version of the package; by default that of Parley
 * @returns its path
 */
export async function buildDeb(version = JSON.parse(read('package.json')).version) {
	if (findProgram('dpkg-deb') === null)
		throw new UserError('dpkg-deb is missing: packages are built on Debian or Ubuntu.');
	await ensureBinary();
	const folder = mkdtempSync(join(root, '.build/deb-'));
	try {
		const architecture = ARCHITECTURES[process.arch];
		for (const [path, contents, mode] of packageFiles(version, architecture)) {
			const target = join(folder, path);
			mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
			writeFileSync(target, contents);
			chmodSync(target, mode);
		}
		mkdirSync(join(folder, 'usr/bin'), { mode: 0o755 });
		copyFileSync(binary, join(folder, 'usr/bin/parley'));
		chmodSync(join(folder, 'usr/bin/parley'), 0o755);
		const path = join(root, `.build/parley_${version}_${architecture}.deb`);
		// Equal contents give an equal package. Most of it is compressed already, so a slower method saves little.
		const env = { SOURCE_DATE_EPOCH: process.env.SOURCE_DATE_EPOCH ?? (await dateOfCommit()) };
		const { code, output } = await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', folder, path], {
			env,
			quiet: true,
		});
		if (code !== 0) throw new UserError(`The package could not be built:\n${output.trim()}`);
		return path;
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The unit of the package: as deploy/parley.service, for a user that stays and another place of the executable. */
export function debianUnit() {
	const unit = read('deploy/parley.service');
	const [, sections] = unit.split(/^(?=\[Unit\]$)/m);
	return [
		['ExecStart=/usr/local/bin/parley serve', 'ExecStart=/usr/bin/parley serve'],
		['# A separate user, whose folders are private: /var/lib/parley and /var/cache/parley.\nDynamicUser=yes\n', ''],
	].reduce((text, [from, to]) => {
		if (!text.includes(from)) throw new Error(`deploy/parley.service does not have: ${from}`);
		return text.replace(from, to);
	}, `# Parley as a service. Settings: /etc/parley.env. Other changes: systemctl edit parley\n\n${sections}`);
}

/** Path, contents and mode of each file except the executable. */
function packageFiles(version, architecture) {
	const changelog = `parley (${version}) stable; urgency=medium\n\n  * See NEWS.md.gz.\n\n -- ${maintainer()}  ${CHANGELOG_DATE}\n`;
	return [
		['DEBIAN/control', control(version, architecture), 0o644],
		['DEBIAN/conffiles', '/etc/parley.env\n', 0o644],
		...MAINTAINER_SCRIPTS.map((name) => [`DEBIAN/${name}`, read(`deploy/debian/${name}`), 0o755]),
		['etc/parley.env', read('example.env'), 0o640],
		['lib/systemd/system/parley.service', debianUnit(), 0o644],
		['usr/share/doc/parley/copyright', copyright(), 0o644],
		['usr/share/doc/parley/changelog.gz', gzipSync(changelog, { level: 9 }), 0o644],
		['usr/share/doc/parley/NEWS.md.gz', gzipSync(read('CHANGELOG.md'), { level: 9 }), 0o644],
		['usr/share/lintian/overrides/parley', read('deploy/debian/lintian-overrides'), 0o644],
		['usr/share/man/man1/parley.1.gz', gzipSync(read('deploy/debian/parley.1'), { level: 9 }), 0o644],
	];
}

/** Who answers for the package, by the variables that Debian's tools read. */
function maintainer() {
	return `${process.env.DEBFULLNAME ?? 'Parley'} <${process.env.DEBEMAIL ?? 'parley@localhost'}>`;
}

/** A fixed date: the changes of versions are in CHANGELOG.md. */
const CHANGELOG_DATE = 'Thu, 01 Jan 2026 00:00:00 +0000';

function control(version, architecture) {
	return `Package: parley
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer()}
Depends: adduser, init-system-helpers (>= 1.52), libc6 (>= ${requiredLibc()}), libgcc-s1, libstdc++6 (>= 9)
Section: web
Priority: optional
Description: self-hosted assistant platform
 One server that answers questions about your own documents, with citations,
 over a REST API and in a chat on your website. The database, the search and a
 model that needs no other service are inside.
`;
}

/** The newest version of the C library that the executable or a native part needs. */
function requiredLibc() {
	const parts = [binary, ...['better_sqlite3', 'uws'].map((name) => join(root, `.build/native/${name}.node`))];
	const minors = parts.flatMap((path) =>
		[...readFileSync(path, 'latin1').matchAll(/GLIBC_2\.(\d+)\b/g)].map(([, minor]) => Number(minor)),
	);
	return `2.${Math.max(...minors)}`;
}

function copyright() {
	const licence = read('LICENSE').trim().split('\n');
	const [holder] = licence.filter((line) => line.startsWith('Copyright'));
	const text = licence.slice(licence.indexOf(holder) + 1).map((line) => (line.trim() === '' ? ' .' : ` ${line}`));
	return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Parley
Comment: The licences of what is inside the executable are in licences.txt in
 the folder into which it unpacks itself (/var/cache/parley).

Files: *
Copyright: ${holder.replace(/^Copyright (\(c\) )?/i, '')}
License: Expat
${text.slice(text.findIndex((line) => line !== ' .')).join('\n')}
`;
}

/** Seconds of the last commit, else of the epoch. */
async function dateOfCommit() {
	const { code, output } = await run('git', ['log', '-1', '--format=%ct'], { quiet: true });
	return code === 0 ? output.trim() : '0';
}

if (isEntry(import.meta.url)) {
	await main(async () => {
		await ensureInstalled();
		const path = await buildDeb();
		say(`Built ${path.slice(root.length)}.`);
	});
}
