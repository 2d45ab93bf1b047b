import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient, useQuery } from '../../api/queries.ts';
import { linkTo, navigate } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { SaveBar } from '../../forms/save-bar.tsx';
import { useAction } from '../../forms/use-action.ts';
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
						<Deletion reply={reply.value} />
					</div>
				)}
			</QueryContent>
		</>
	);
}

function CannedReplyForm({ reply: { value: reply, etag } }: { reply: Versioned<CannedReply> }) {
	const s = strings();
	const t = s.cannedReplyPages;
	const draft = useDraft<CannedReplyFields>(`canned-replies/${reply.id}`, fieldsOf(reply));
	const [conflicting, setConflicting] = useState<Versioned<CannedReply> | null>(null);
	const params = { path: { id: reply.id } };
	const save = useAction(async (version: string) => {
		try {
			const options = { params, body: draft.changes, headers: { 'If-Match': version } };
			keepCannedReply(await versionedResultOf(api.PATCH('/api/v1/canned-replies/{id}', options)));
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 412) throw error;
			setConflicting(await versionedResultOf(api.GET('/api/v1/canned-replies/{id}', { params })));
			return;
		}
		draft.reset();
		setConflicting(null);
		showToast(s.saved);
	}, FIELD_POINTERS);
	const takeTheirs = (theirs: Versioned<CannedReply>) => {
		draft.reset();
		setConflicting(null);
		keepCannedReply(theirs);
	};
	return (
		<>
			{conflicting && (
				<Conflict
					draft={draft}
					stored={fieldsOf(conflicting.value)}
					labelOf={(field) => ({ shortcut: t.shortcut, content: t.content })[field]}
					onOverwrite={() => void save.run(conflicting.etag)}
					onTakeTheirs={() => takeTheirs(conflicting)}
				/>
			)}
			<form class="card" onSubmit={(event) => event.preventDefault()}>
				<Fields draft={draft} rejected={save.rejected} />
				<SaveBar draft={draft} isBusy={save.isBusy} onSave={() => void save.run(etag)} />
			</form>
		</>
	);
}

function Deletion({ reply: { id, shortcut } }: { reply: CannedReply }) {
	const t = strings().cannedReplyPages;
	const remove = useAction(async () => {
		const text = fill(t.removeConfirm, { shortcut });
		if (!(await confirm({ title: t.removeTitle, text, action: t.remove }))) return;
		await api.DELETE('/api/v1/canned-replies/{id}', { params: { path: { id } } });
		showToast(t.removed);
		navigate(['canned-replies']);
		queryClient.removeQueries({ queryKey: cannedReplyById(id).queryKey });
		void invalidate('canned-replies', 'list');
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
