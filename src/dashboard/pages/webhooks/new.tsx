import { api, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { linkTo, navigate } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { PageHeader } from '../../components/page.tsx';
import { showSecretOnce } from '../../components/secret-once.tsx';
import { CreateForm } from '../../forms/create-form.tsx';
import { useAction } from '../../forms/use-action.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { FIELD_POINTERS, Fields, NEW_WEBHOOK, type WebhookFields } from './fields.tsx';

/** Registers a webhook and shows its secret. */
export function NewWebhook() {
	const s = strings();
	const t = s.webhookPages;
	const draft = useDraft<WebhookFields>('webhooks/new', NEW_WEBHOOK);
	const { url, description, events } = draft.values;
	const create = useAction(async () => {
		const body = { url: url.trim(), events, ...(description === null ? {} : { description }) };
		const { id, signing_secret } = await resultOf(api.POST('/api/v1/webhooks', { body }));
		draft.reset();
		void invalidate('webhooks', 'list');
		showToast(t.registered);
		navigate(['webhooks', id]);
		await showSecretOnce({ title: t.secretTitle, text: t.secretText, label: t.secretLabel, secret: signing_secret });
	}, FIELD_POINTERS);
	return (
		<>
			<PageHeader title={t.create} back={{ label: s.webhooks, href: linkTo(['webhooks']) }} />
			<CreateForm
				isBusy={create.isBusy}
				isIncomplete={url.trim() === '' || events.length === 0}
				cancel={linkTo(['webhooks'])}
				onCreate={() => void create.run()}
			>
				<Fields draft={draft} rejected={create.rejected} />
			</CreateForm>
		</>
	);
}
