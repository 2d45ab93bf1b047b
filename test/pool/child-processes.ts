import { readdir, readFile } from 'node:fs/promises';

/** The processes that this process has started and that have not ended. */
export async function childProcesses(): Promise<number[]> {
	const threads = await readdir('/proc/self/task');
	const children = await Promise.all(
		threads.map((id) => readFile(`/proc/self/task/${id}/children`, 'utf8').catch(() => '')),
	);
	return children.flatMap((line) => line.split(' ').filter((pid) => pid.trim() !== '')).map(Number);
}
