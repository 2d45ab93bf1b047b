// Loaded into a server that is measured, by --require, with --expose-gc: at SIGUSR2 it collects its garbage and prints what
// memory is left in use. Nothing else of the server is changed.
process.on('SIGUSR2', () => {
	for (let time = 0; time < 3; time++) globalThis.gc();
	process.stdout.write(`settled ${JSON.stringify(process.memoryUsage())}\n`);
});
