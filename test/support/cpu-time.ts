/** Milliseconds of processor time that this process spends until the work ends. A busy machine does not lengthen it. */
export async function cpuMilliseconds(work: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1_000;
}
