/** Everything that a chat says by itself. `{n}` stands for a number, `{name}` for a name. */
export interface Strings {
	title: string;
	restart: string;
	minimise: string;
	log: string;
	field: string;
	placeholder: string;
	send: string;
	stop: string;
	you: string;
	assistant: string;
	writing: string;
	looking: string;
	stopped: string;
	failed: string;
	unsent: string;
	retry: string;
	copy: string;
	copied: string;
	sources: string;
	source: string;
	page: string;
	openSource: string;
	up: string;
	down: string;
	thanks: string;
	earlier: string;
	loading: string;
	offline: string;
	reconnecting: string;
	limited: string;
	signIn: string;
	forbidden: string;
	gone: string;
	closed: string;
	trouble: string;
}
