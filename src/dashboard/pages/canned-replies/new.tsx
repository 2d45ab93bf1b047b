import { api, versionedResultOf } from '../../api/client.ts';
import { linkTo, navigate } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { PageHeader } from '../../components/page.tsx';
import { CreateForm } from '../../forms/create-form.tsx';
import { useAction } from '../../forms/use-action.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { type CannedReplyFields, FIELD_POINTERS, Fields, NEW_CANNED_REPLY } from './fields.tsx';
import { keepCannedReply } from './queries.ts';

/** Creates a canned reply. */
export function NewCannedReply() {
	const t = strings().cannedReplyPages;
	const draft = useDraft<CannedReplyFields>('canned-replies/new', NEW_CANNED_REPLY);
	const { shortcut, content } = draft.values;
	const create = useAction(async () => {
		const body = { shortcut: shortcut.trim(), content };
		keepCannedReply(await versionedResultOf(api.POST('/api/v1/canned-replies', { body })));
		draft.reset();
		showToast(t.created);
		navigate(['canned-replies']);
	}, FIELD_POINTERS);
	return (
		<>
			<PageHeader title={t.create} back={{ label: t.title, href: linkTo(['canned-replies']) }} />
			<CreateForm
				isBusy={create.isBusy}
				isIncomplete={shortcut.trim() === '' || content.trim() === ''}
				cancel={linkTo(['canned-replies'])}
				onCreate={() => void create.run()}
			>
				<Fields draft={draft} rejected={create.rejected} />
			</CreateForm>
		</>
	);
}
