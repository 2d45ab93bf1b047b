import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { type LiveEvent, useLiveQueries } from '../../api/live.ts';
import { invalidate, queryClient, useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { ShortId } from '../../components/copy-button.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Status } from '../../components/status.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { SaveBar } from '../../forms/save-bar.tsx';
import { useAction } from '../../forms/use-action.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { Attachments } from './attachments.tsx';
import { type AssistantFields, FIELD_POINTERS, Fields, fieldsOf, labelsOf } from './fields.tsx';
import { type Assistant, assistantById } from './queries.ts';
import { TryOut } from './try-out.tsx';

/** One assistant: the form at the left, and a conversation with the saved version at the right. */
export function AssistantEditor({ id }: { id: string }) {
	const query = useQuery(assistantById(id));
	return <QueryContent query={query}>{(assistant) => <Editor assistant={assistant} />}</QueryContent>;
}

/** Shows another version of an assistant everywhere. */
function keep(assistant: Versioned<Assistant>): void {
	queryClient.setQueryData(assistantById(assistant.value.id).queryKey, assistant);
	void invalidate('assistants', 'list');
}

function Editor({ assistant: { value: assistant, etag } }: { assistant: Versioned<Assistant> }) {
	const s = strings();
	const t = s.assistantPages;
	const draft = useDraft<AssistantFields>(`assistants/${assistant.id}`, fieldsOf(assistant));
	const [conflicting, setConflicting] = useState<Versioned<Assistant> | null>(null);
	// A form with changes keeps the version that it began with, so that saving finds the conflict.
	const isOutdated = ({ data: { id, updated_at } }: LiveEvent<'assistant.updated'>) =>
		id === assistant.id && updated_at !== assistant.updated_at && !draft.isDirty;
	useLiveQueries(['assistant.updated'], assistantById(assistant.id).queryKey, isOutdated);
	const params = { path: { id: assistant.id } };
	const save = useAction(async (version: string) => {
		try {
			const call = api.PATCH('/api/v1/assistants/{id}', {
				params,
				body: draft.changes,
				headers: { 'If-Match': version },
			});
			keep(await versionedResultOf(call));
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 412) throw error;
			setConflicting(await versionedResultOf(api.GET('/api/v1/assistants/{id}', { params })));
			return;
		}
		draft.reset();
		setConflicting(null);
		showToast(s.saved);
	}, FIELD_POINTERS);
	const takeTheirs = (theirs: Versioned<Assistant>) => {
		draft.reset();
		setConflicting(null);
		keep(theirs);
	};
	return (
		<>
			<PageHeader title={assistant.name} back={{ label: s.assistants, href: linkTo(['assistants']) }}>
				<ShortId id={assistant.id} />
				<StatusButton assistant={assistant} />
			</PageHeader>
			<div class="columns">
				<div>
					{conflicting && (
						<Conflict
							draft={draft}
							stored={fieldsOf(conflicting.value)}
							labelOf={(field) => labelsOf(t)[field]}
							onOverwrite={() => void save.run(conflicting.etag)}
							onTakeTheirs={() => takeTheirs(conflicting)}
						/>
					)}
					<form class="card" onSubmit={(event) => event.preventDefault()}>
						<Fields draft={draft} rejected={save.rejected} />
						<SaveBar draft={draft} isBusy={save.isBusy} onSave={() => void save.run(etag)} />
					</form>
					<Attachments assistant={assistant} onChanged={keep} />
				</div>
				<TryOut assistant={assistant} isSaved={!draft.isDirty} />
			</div>
		</>
	);
}

/** Archives an assistant, or activates it again. */
function StatusButton({ assistant: { id, status } }: { assistant: Assistant }) {
	const t = strings().assistantPages;
	const change = useAction(async (next: Assistant['status']) => {
		if (next === 'archived' && !(await confirm({ title: t.archiveTitle, text: t.archiveText, action: t.archive })))
			return;
		const call = api.PATCH('/api/v1/assistants/{id}', { params: { path: { id } }, body: { status: next } });
		keep(await versionedResultOf(call));
		showToast(next === 'archived' ? t.archivedNow : t.activatedNow);
	});
	if (status === 'archived') {
		return (
			<>
				<Status tone="grey">{t.archived}</Status>
				<Button isBusy={change.isBusy} onClick={() => void change.run('active')}>
					{t.activate}
				</Button>
			</>
		);
	}
	return (
		<Button isBusy={change.isBusy} onClick={() => void change.run('archived')}>
			{t.archive}
		</Button>
	);
}
