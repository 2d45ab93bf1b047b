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

export const english: Strings = {
	title: 'Chat',
	restart: 'New conversation',
	minimise: 'Close chat',
	log: 'Conversation',
	field: 'Your message',
	placeholder: 'Write a message …',
	send: 'Send',
	stop: 'Stop the answer',
	you: 'You',
	assistant: 'Assistant',
	writing: 'Writing an answer …',
	looking: 'Looking it up …',
	stopped: 'Stopped',
	failed: 'The answer could not be written.',
	unsent: 'Not sent',
	retry: 'Try again',
	copy: 'Copy code',
	copied: 'Copied',
	sources: 'Sources',
	source: 'Source {n}',
	page: 'Page {n}',
	openSource: 'Open the source in a new tab',
	up: 'Helpful',
	down: 'Not helpful',
	thanks: 'Thank you for your feedback.',
	earlier: 'Earlier messages',
	loading: 'Loading …',
	offline: 'You are offline. Your messages are sent as soon as you are back.',
	reconnecting: 'The connection was lost. Reconnecting …',
	limited: 'That was a lot at once. You can go on in {n} s.',
	signIn: 'Please sign in on this website to use the chat.',
	forbidden: 'This chat is not available on this website.',
	gone: 'This chat is not available any more.',
	closed: 'This conversation is closed. You can begin a new one.',
	trouble: 'That did not work. Please try again.',
};
