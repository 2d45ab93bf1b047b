/** Sets alarms in this process. What is due when is in the database: an alarm only says when to look. Tests hand in their own. */
export interface Alarms {
	/** Rings once after `ms`; the result takes it back. */
	set(ms: number, ring: () => void): () => void;
}

/** The machine's. They keep no process alive. */
export const systemAlarms: Alarms = {
	set(ms, ring) {
		const timer = setTimeout(ring, ms).unref();
		return () => clearTimeout(timer);
	},
};
