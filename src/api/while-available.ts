import type { Caller } from '../access/index.ts';
import type { PullSource } from '../base/index.ts';
import type { Conversations } from '../conversations/index.ts';

type Availability = Conversations['people']['availability'];

/**
 * The same stream; while it is open, a person counts as available to visitors. An open stream of the dashboard is a person; an API
 * key is none, and neither is a person who may not answer.
 */
export function whileAvailable<T>(
	source: PullSource<T>,
	{ workspaceId, userSession, scopes }: Caller,
	availability: Availability,
): PullSource<T> {
	const mayAnswer = scopes.includes('*') || scopes.includes('conversations:write');
	if (userSession === null || !mayAnswer) return source;
	let leave: (() => void) | null = null;
	const end = () => {
		leave?.();
		leave = null;
	};
	return {
		open(reader) {
			leave = availability.enter(workspaceId);
			source.open(reader);
		},
		read() {
			const item = source.read();
			if (item === null && source.isEnded) end();
			return item;
		},
		get isEnded() {
			return source.isEnded;
		},
		close() {
			end();
			return source.close();
		},
	};
}
