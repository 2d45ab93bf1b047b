import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { type LiveEvent, useLiveQueries } from '../../api/live.ts';
import { invalidate, queryClient, useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { ShortId } from '../../components/copy-button.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { ArchiveButton } from '../../forms/archive-button.tsx';
import { SaveForm } from '../../forms/save-form.tsx';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
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

function Editor({ assistant: version }: { assistant: Versioned<Assistant> }) {
	const s = strings();
	const t = s.assistantPages;
	const assistant = version.value;
	const isWriter = may('assistants:write');
	const draft = useDraft<AssistantFields>(`assistants/${assistant.id}`, fieldsOf(assistant));
	// A form with changes keeps the version that it began with, so that saving finds the conflict.
	const isOutdated = ({ data: { id, updated_at } }: LiveEvent<'assistant.updated'>) =>
		id === assistant.id && updated_at !== assistant.updated_at && !draft.isDirty;
	useLiveQueries(['assistant.updated'], assistantById(assistant.id).queryKey, isOutdated);
	const params = { path: { id: assistant.id } };
	const save = useConditionalSave<Assistant, AssistantFields>({
		version,
		draft,
		fieldsOf,
		pointers: FIELD_POINTERS,
		update: (headers) =>
			versionedResultOf(api.PATCH('/api/v1/assistants/{id}', { params, body: draft.changes, headers })),
		load: () => versionedResultOf(api.GET('/api/v1/assistants/{id}', { params })),
		show: keep,
		labelOf: (field) => labelsOf(t)[field],
	});
	const changeStatus = async (status: Assistant['status']) =>
		keep(await versionedResultOf(api.PATCH('/api/v1/assistants/{id}', { params, body: { status } })));
	return (
		<>
			<PageHeader title={assistant.name} back={{ label: s.assistants, href: linkTo(['assistants']) }}>
				<ShortId id={assistant.id} />
				{isWriter && <ArchiveButton status={assistant.status} texts={t} onChange={changeStatus} />}
			</PageHeader>
			<div class="columns">
				<div>
					<SaveForm draft={draft} save={save} isReadOnly={!isWriter}>
						<Fields draft={draft} rejected={save.rejected} />
					</SaveForm>
					<Attachments assistant={assistant} onChanged={keep} />
				</div>
				{may('messages:write') && <TryOut assistant={assistant} isSaved={!draft.isDirty} />}
			</div>
		</>
	);
}
