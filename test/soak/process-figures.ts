import { readdir, readFile } from 'node:fs/promises';

/** Open file descriptors of a process, its children's not included. */
export async function descriptorsOf(pid: number): Promise<number> {
	return (await readdir(`/proc/${pid}/fd`)).length;
}

/** Threads of a process. */
export async function threadsOf(pid: number): Promise<number> {
	return (await readdir(`/proc/${pid}/task`)).length;
}

/** The ids of a process's children. */
export async function childrenOf(pid: number): Promise<number[]> {
	const tasks = await readdir(`/proc/${pid}/task`);
	const lists = await Promise.all(
		tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
	);
	return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** Resident memory of a process in bytes. */
export async function residentBytesOf(pid: number): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
