/**
 * Bills the processor time of this process to its tasks in hand, in equal parts: tasks that compute side by side at the same
 * priority get equal parts. The time that passes is no measure for work, because on a busy machine it passes without any.
 */
export class CpuBudgets<Task> {
	readonly #budgetMs: number;
	readonly #cpuMs: () => number;
	readonly #spentMs = new Map<Task, number>();
	/** The processor time that was billed already. */
	#billedMs = 0;

	/**
	 * @param budgetMs what each task may take
	 * @param cpuMs the processor time that this process has taken
	 */
	constructor(budgetMs: number, cpuMs: () => number = processCpuMs) {
		this.#budgetMs = budgetMs;
		this.#cpuMs = cpuMs;
	}

	begin(task: Task): void {
		this.#bill();
		this.#spentMs.set(task, 0);
	}

	end(task: Task): void {
		this.#bill();
		this.#spentMs.delete(task);
	}

	/** The tasks in hand that have taken more than they may. */
	overdrawn(): Task[] {
		this.#bill();
		return [...this.#spentMs].filter(([, ms]) => ms > this.#budgetMs).map(([task]) => task);
	}

	#bill(): void {
		const now = this.#cpuMs();
		const part = (now - this.#billedMs) / this.#spentMs.size;
		this.#billedMs = now;
		for (const [task, ms] of this.#spentMs) this.#spentMs.set(task, ms + part);
	}
}

function processCpuMs(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
}
