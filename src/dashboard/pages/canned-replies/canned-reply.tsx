import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient, useQuery } from '../../api/queries.ts';
import { linkTo, navigate } from '../../app/route.ts';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Deletion } from '../../forms/deletion.tsx';
import { SaveForm } from '../../forms/save-form.tsx';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
import { useDraft } from '../../forms/use-draft.ts';
import { fill, strings } from '../../languages/index.ts';
import { type CannedReplyFields, FIELD_POINTERS, Fields, fieldsOf } from './fields.tsx';
import { type CannedReply, cannedReplyById, keepCannedReply } from './queries.ts';

/** A canned reply: its form and its deletion. */
export function CannedReplyPage({ id }: { id: string }) {
	const t = strings().cannedReplyPages;
	const query = useQuery(cannedReplyById(id));
	const title = query.data ? `/${query.data.value.shortcut}` : t.title;
	return (
		<>
			<PageHeader title={title} back={{ label: t.title, href: linkTo(['canned-replies']) }} />
			<QueryContent query={query}>
				{(reply) => (
					<div class="narrow">
						<CannedReplyForm reply={reply} />
						<ReplyDeletion reply={reply.value} />
					</div>
				)}
			</QueryContent>
		</>
	);
}

function CannedReplyForm({ reply }: { reply: Versioned<CannedReply> }) {
	const t = strings().cannedReplyPages;
	const draft = useDraft<CannedReplyFields>(`canned-replies/${reply.value.id}`, fieldsOf(reply.value));
	const params = { path: { id: reply.value.id } };
	const save = useConditionalSave<CannedReply, CannedReplyFields>({
		version: reply,
		draft,
		fieldsOf,
		pointers: FIELD_POINTERS,
		update: (headers) =>
			versionedResultOf(api.PATCH('/api/v1/canned-replies/{id}', { params, body: draft.changes, headers })),
		load: () => versionedResultOf(api.GET('/api/v1/canned-replies/{id}', { params })),
		show: keepCannedReply,
		labelOf: (field) => ({ shortcut: t.shortcut, content: t.content })[field],
	});
	return (
		<SaveForm draft={draft} save={save}>
			<Fields draft={draft} rejected={save.rejected} />
		</SaveForm>
	);
}

function ReplyDeletion({ reply: { id, shortcut } }: { reply: CannedReply }) {
	const t = strings().cannedReplyPages;
	const remove = async () => {
		await api.DELETE('/api/v1/canned-replies/{id}', { params: { path: { id } } });
		navigate(['canned-replies']);
		queryClient.removeQueries({ queryKey: cannedReplyById(id).queryKey });
		void invalidate('canned-replies', 'list');
	};
	return <Deletion texts={t} question={fill(t.removeConfirm, { shortcut })} onDelete={remove} />;
}
