import { api, versionedResultOf } from '../../api/client.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';
import { keepWebhook, type Webhook } from './queries.ts';

/** Disables a webhook, or enables it again. */
export function StatusButton({ webhook: { id, status } }: { webhook: Webhook }) {
	const t = strings().webhookPages;
	const next = status === 'active' ? 'disabled' : 'active';
	const change = useAction(async () => {
		const question = { title: t.disableTitle, text: t.disableText, action: t.disable };
		if (next === 'disabled' && !(await confirm(question))) return;
		const call = api.PATCH('/api/v1/webhooks/{id}', { params: { path: { id } }, body: { status: next } });
		keepWebhook(await versionedResultOf(call));
		showToast(next === 'disabled' ? t.disabledNow : t.enabledNow);
	});
	return (
		<Button isBusy={change.isBusy} onClick={() => void change.run()}>
			{next === 'disabled' ? t.disable : t.enable}
		</Button>
	);
}
