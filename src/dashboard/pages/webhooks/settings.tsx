import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { api, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient } from '../../api/queries.ts';
import { navigate } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { showSecretOnce } from '../../components/secret-once.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { SaveBar } from '../../forms/save-bar.tsx';
import { useAction } from '../../forms/use-action.ts';
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
			<Deletion webhook={webhook.value} />
		</div>
	);
}

function WebhookForm({ webhook: { value: webhook, etag } }: { webhook: Versioned<Webhook> }) {
	const s = strings();
	const draft = useDraft<WebhookFields>(`webhooks/${webhook.id}`, fieldsOf(webhook));
	const [conflicting, setConflicting] = useState<Versioned<Webhook> | null>(null);
	const params = { path: { id: webhook.id } };
	const save = useAction(async (version: string) => {
		try {
			const options = { params, body: draft.changes, headers: { 'If-Match': version } };
			keepWebhook(await versionedResultOf(api.PATCH('/api/v1/webhooks/{id}', options)));
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 412) throw error;
			setConflicting(await versionedResultOf(api.GET('/api/v1/webhooks/{id}', { params })));
			return;
		}
		draft.reset();
		setConflicting(null);
		showToast(s.saved);
	}, FIELD_POINTERS);
	const takeTheirs = (theirs: Versioned<Webhook>) => {
		draft.reset();
		setConflicting(null);
		keepWebhook(theirs);
	};
	return (
		<>
			{conflicting && (
				<Conflict
					draft={draft}
					stored={fieldsOf(conflicting.value)}
					labelOf={(field) => labelsOf(s.webhookPages)[field]}
					onOverwrite={() => void save.run(conflicting.etag)}
					onTakeTheirs={() => takeTheirs(conflicting)}
				/>
			)}
			<form class="card" onSubmit={(event) => event.preventDefault()}>
				<Fields draft={draft} rejected={save.rejected} />
				<SaveBar
					draft={draft}
					isBusy={save.isBusy}
					onSave={() => {
						if (draft.values.events.length > 0) void save.run(etag);
					}}
				/>
			</form>
		</>
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

function Deletion({ webhook: { id, url } }: { webhook: Webhook }) {
	const t = strings().webhookPages;
	const remove = useAction(async () => {
		const text = fill(t.removeConfirm, { url });
		if (!(await confirm({ title: t.removeTitle, text, action: t.remove }))) return;
		await api.DELETE('/api/v1/webhooks/{id}', { params: { path: { id } } });
		showToast(t.removed);
		navigate(['webhooks']);
		queryClient.removeQueries({ queryKey: webhookById(id).queryKey });
		void invalidate('webhooks', 'list');
	});
	return (
		<section class="card">
			<h2>{t.remove}</h2>
			<p class="soft">{t.removeText}</p>
			<Button look="danger" isBusy={remove.isBusy} onClick={() => void remove.run()}>
				{t.remove}
			</Button>
		</section>
	);
}
