// npm start: install what is missing, build what is stale, serve. Arguments name another command of the server's.
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
	// In this process rather than in a child: signals, the terminal and the exit code are then the server's own.
	const entry = new URL('../.build/main.js', import.meta.url);
	process.argv = [process.argv[0], `${root}.build/main.js`, ...process.argv.slice(2)];
	stopWithParent();
	await import(entry.href);
}

/**
 * npm passes SIGTERM to the shell that it runs us in, which ends without passing it on. So where npm started us, the end
 * of that shell counts as the signal; the server would go on without anybody to stop it otherwise.
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
