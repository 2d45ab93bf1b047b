// npm start: installs what is missing, builds what is stale, and serves. Arguments name another command of the server.
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { main, root, say } from './project.mjs';

let ready = false;
await main(async () => {
	await ensureInstalled();
	await ensureBuilt();
	ready = true;
});

if (ready) {
	if (process.argv.length === 2) say('Starting …');
	// In this process and not in a child, so that the server gets signals and the terminal and sets the exit code.
	const entry = new URL('../.build/main.js', import.meta.url);
	process.argv = [process.argv[0], `${root}.build/main.js`, ...process.argv.slice(2)];
	stopWithParent();
	await import(entry.href);
}

/**
 * npm passes SIGTERM to the shell that runs this script, which exits without passing it on. So if npm started this process, the exit of
 * that shell counts as the signal. Otherwise the server would continue to run.
 */
function stopWithParent() {
	if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
	const parent = process.ppid;
	const timer = setInterval(() => {
		if (process.ppid === parent) return;
		clearInterval(timer);
		process.kill(process.pid, 'SIGTERM');
	}, 500);
	timer.unref();
}
