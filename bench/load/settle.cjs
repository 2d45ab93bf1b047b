// Loaded into a measured server by --require, with --expose-gc. At SIGUSR2 it collects garbage and prints the memory in use. It
// changes nothing else in the server.
process.on('SIGUSR2', () => {
	for (let time = 0; time < 3; time++) globalThis.gc();
	process.stdout.write(`settled ${JSON.stringify(process.memoryUsage())}\n`);
});
