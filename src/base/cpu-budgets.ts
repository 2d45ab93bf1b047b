/**
 * Charges the processor time of this process to its running tasks in equal parts: concurrent tasks of the same priority get
 * equal parts. Elapsed time is no measure, because on a busy machine it passes without any work.
 */
export class CpuBudgets<Task> {
	readonly #budgetMs: number;
	readonly #cpuMs: () => number;
	readonly #spentMs = new Map<Task, number>();
	/** The processor time that was charged already. */
	#chargedMs = 0;

	/**
	 * @param budgetMs processor time that each task may use
	 * @param cpuMs gives the processor time that this process has used
	 */
	constructor(budgetMs: number, cpuMs: () => number = processCpuMs) {
		this.#budgetMs = budgetMs;
		this.#cpuMs = cpuMs;
	}

	begin(task: Task): void {
		this.#charge();
		this.#spentMs.set(task, 0);
	}

	end(task: Task): void {
		this.#charge();
		this.#spentMs.delete(task);
	}

	/** The running tasks that have exceeded their budget. */
	overdrawn(): Task[] {
		this.#charge();
		return [...this.#spentMs].filter(([, ms]) => ms > this.#budgetMs).map(([task]) => task);
	}

	#charge(): void {
		const now = this.#cpuMs();
		const part = (now - this.#chargedMs) / this.#spentMs.size;
		this.#chargedMs = now;
		for (const [task, ms] of this.#spentMs) this.#spentMs.set(task, ms + part);
	}
}

function processCpuMs(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
}
