import { api, resultOf } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { navigate } from '../app/route.ts';
import { showToast } from '../app/toasts.tsx';
import { confirm } from '../components/confirm.tsx';
import { strings } from '../languages/index.ts';

/** The API's path of the file with everything that is stored about a person. */
export function exportPathOf(endUserId: string): string {
	return `api/v1/end-users/export?${new URLSearchParams({ end_user_id: endUserId })}`;
}

/** Asks, begins the erasure of a person, and shows its progress. */
export async function eraseEndUser(end_user_id: string): Promise<void> {
	const t = strings().privacyPages;
	const points = Object.values(t.erasePoints);
	const about = { title: t.eraseTitle, text: t.eraseText, points, typed: end_user_id, action: t.eraseAction };
	if (!(await confirm(about))) return;
	const { id } = await resultOf(api.POST('/api/v1/erasures', { body: { end_user_id } }));
	void invalidate('erasures');
	navigate(['privacy', id]);
	showToast(t.started);
}
