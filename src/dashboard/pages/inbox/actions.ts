import { api, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { showToast } from '../../app/toasts.tsx';
import { confirm } from '../../components/confirm.tsx';
import { sentenceOf } from '../../components/page.tsx';
import { fill, strings } from '../../languages/index.ts';
import { endPresence } from './presence.tsx';
import type { Conversation, Message } from './queries.ts';

const at = (id: string) => ({ params: { path: { id } } });

/** Runs an action; an error shows as a toast. Resolves to whether it succeeded. */
async function attempt(action: () => Promise<unknown>, done?: string): Promise<boolean> {
	try {
		await action();
		if (done !== undefined) showToast(done);
		return true;
	} catch (error) {
		showToast(sentenceOf(error as Error), { isError: true });
		return false;
	}
}

export function takeOver(id: string): Promise<boolean> {
	return attempt(() => api.POST('/api/v1/conversations/{id}/takeover', at(id)), strings().inboxPages.takenOver);
}

export function release(id: string): Promise<boolean> {
	return attempt(() => api.POST('/api/v1/conversations/{id}/release', at(id)), strings().inboxPages.released);
}

export function archiveOrReopen({ id, status }: Conversation): Promise<boolean> {
	const t = strings().inboxPages;
	const next = status === 'active' ? 'archived' : 'active';
	const change = () => api.PATCH('/api/v1/conversations/{id}', { ...at(id), body: { status: next } });
	return attempt(change, next === 'archived' ? t.archivedNow : t.reopenedNow);
}

/** @param name the user's name; null with null */
export function assign(id: string, assigneeId: string | null, name: string | null): Promise<boolean> {
	const t = strings().inboxPages;
	const body = { assignee_id: assigneeId };
	const done = name === null ? t.unassigned : fill(t.assigned, { name });
	return attempt(() => api.PATCH('/api/v1/conversations/{id}', { ...at(id), body }), done);
}

/** @param key the same for each attempt to send one message @throws ApiError, TypeError */
export function sendMessage(id: string, content: string, key: string): Promise<Message> {
	const options = { ...at(id), body: { content }, headers: { 'Idempotency-Key': key } };
	return resultOf(api.POST('/api/v1/conversations/{id}/messages', options));
}

/** Asks, then erases. Resolves to whether it was erased. */
export async function erase({ id, message_count }: Conversation): Promise<boolean> {
	const t = strings().inboxPages;
	const text = fill(t.eraseText, { n: message_count });
	if (!(await confirm({ title: t.eraseTitle, text, action: t.erase }))) return false;
	const params = { path: { id }, query: { purge: true } };
	return attempt(async () => {
		await api.DELETE('/api/v1/conversations/{id}', { params });
		endPresence(id);
	}, t.erased);
}

/** Marks all messages as read. A failure is no reason to disturb: they stay unread. */
export async function markRead(id: string): Promise<void> {
	await api.POST('/api/v1/conversations/{id}/read', { ...at(id), body: {} }).catch(() => {});
	void invalidate('inbox', 'counts');
}

export function markAllRead(): Promise<boolean> {
	return attempt(() => api.POST('/api/v1/inbox/read'), strings().inboxPages.allRead);
}
