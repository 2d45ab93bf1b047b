// Loaded into a measured server by --require. At SIGHUP it prints for how long the event loop has stalled since the previous
// SIGHUP. It changes nothing else in the server.
const { openSync, readSync } = require('node:fs');
const { createHistogram } = require('node:perf_hooks');

const EVERY_MS = 1;

/**
 * Scheduling of the main thread on Linux, in milliseconds since its start: how long it ran, and how long it was ready to run while
 * others used the cores. Null on other systems.
 */
const look = (() => {
	try {
		const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
		const bytes = Buffer.alloc(128);
		return () => {
			const [ran, waited] = bytes.latin1Slice(0, readSync(file, bytes, 0, bytes.length, 0)).split(' ');
			return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 };
		};
	} catch {
		return () => null;
	}
})();

const delays = createHistogram();
const works = createHistogram();
let lastAt = performance.now();
let last = look();
let begun = last;

// A timer's delay is the time that the event loop was busy. The thread's running time meanwhile is the server's own part of it.
setInterval(() => {
	const now = performance.now();
	const state = look();
	delays.record(Math.max(1, Math.round((now - lastAt - EVERY_MS) * 1e3)));
	if (state !== null) works.record(Math.max(1, Math.round((state.ran - last.ran) * 1e3)));
	lastAt = now;
	last = state;
}, EVERY_MS).unref();

process.on('SIGHUP', () => {
	const state = look();
	const ms = (us) => us / 1e3;
	const told = {
		p99: ms(delays.percentile(99)),
		max: ms(delays.max),
		work: state === null ? null : ms(works.max),
		waited: state === null ? null : state.waited - begun.waited,
	};
	process.stdout.write(`loop ${JSON.stringify(told)}\n`);
	begun = state;
	delays.reset();
	works.reset();
});
