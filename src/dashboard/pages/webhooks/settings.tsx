import { api, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient } from '../../api/queries.ts';
import { navigate } from '../../app/route.ts';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { showSecretOnce } from '../../components/secret-once.tsx';
import { Deletion } from '../../forms/deletion.tsx';
import { SaveForm } from '../../forms/save-form.tsx';
import { useAction } from '../../forms/use-action.ts';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
import { useDraft } from '../../forms/use-draft.ts';
import { fill, strings } from '../../languages/index.ts';
import { FIELD_POINTERS, Fields, fieldsOf, labelsOf, type WebhookFields } from './fields.tsx';
import { keepWebhook, type Webhook, webhookById } from './queries.ts';

/** The form of a webhook, its secret, and its deletion. */
export function WebhookSettings({ webhook }: { webhook: Versioned<Webhook> }) {
	return (
		<div class="narrow">
			<WebhookForm webhook={webhook} />
			<Secret id={webhook.value.id} />
			<WebhookDeletion webhook={webhook.value} />
		</div>
	);
}

function WebhookForm({ webhook }: { webhook: Versioned<Webhook> }) {
	const t = strings().webhookPages;
	const draft = useDraft<WebhookFields>(`webhooks/${webhook.value.id}`, fieldsOf(webhook.value));
	const params = { path: { id: webhook.value.id } };
	const save = useConditionalSave<Webhook, WebhookFields>({
		version: webhook,
		draft,
		fieldsOf,
		pointers: FIELD_POINTERS,
		update: (headers) =>
			versionedResultOf(api.PATCH('/api/v1/webhooks/{id}', { params, body: draft.changes, headers })),
		load: () => versionedResultOf(api.GET('/api/v1/webhooks/{id}', { params })),
		show: keepWebhook,
		labelOf: (field) => labelsOf(t)[field],
	});
	return (
		<SaveForm draft={draft} save={save} isComplete={draft.values.events.length > 0}>
			<Fields draft={draft} rejected={save.rejected} />
		</SaveForm>
	);
}

function Secret({ id }: { id: string }) {
	const t = strings().webhookPages;
	const rotate = useAction(async () => {
		if (!(await confirm({ title: t.rotateTitle, text: t.rotateConfirm, action: t.rotateAction }))) return;
		const call = api.POST('/api/v1/webhooks/{id}/rotate-secret', { params: { path: { id } } });
		const { new_secret } = await resultOf(call);
		void invalidate('webhooks', 'one', id);
		await showSecretOnce({ title: t.secretTitle, text: t.secretText, label: t.secretLabel, secret: new_secret });
	});
	return (
		<section class="card">
			<h2>{t.secretTitle}</h2>
			<p class="soft">{t.rotateText}</p>
			<Button isBusy={rotate.isBusy} onClick={() => void rotate.run()}>
				{t.rotate}
			</Button>
		</section>
	);
}

function WebhookDeletion({ webhook: { id, url } }: { webhook: Webhook }) {
	const t = strings().webhookPages;
	const remove = async () => {
		await api.DELETE('/api/v1/webhooks/{id}', { params: { path: { id } } });
		navigate(['webhooks']);
		queryClient.removeQueries({ queryKey: webhookById(id).queryKey });
		void invalidate('webhooks', 'list');
	};
	return <Deletion texts={t} question={fill(t.removeConfirm, { url })} onDelete={remove} />;
}
