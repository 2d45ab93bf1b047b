import { useState } from 'preact/hooks';
import { ApiError } from '../../../api/api-error.ts';
import { api, type Versioned, versionedResultOf } from '../../../api/client.ts';
import { showToast } from '../../../app/toasts.tsx';
import { TextField } from '../../../components/field.tsx';
import { Conflict } from '../../../forms/conflict.tsx';
import { SaveBar } from '../../../forms/save-bar.tsx';
import { useAction } from '../../../forms/use-action.ts';
import { useDraft } from '../../../forms/use-draft.ts';
import { strings } from '../../../languages/index.ts';
import { type KnowledgeBase, keepBase } from '../queries.ts';
import { DeleteBase } from './delete-base.tsx';
import { Reindex } from './reindex.tsx';
import { SearchFields, type SearchValues } from './search-fields.tsx';

type Fields = Pick<KnowledgeBase, 'name' | 'description'> & SearchValues;

/** Name, search, reindex, and the end of a knowledge base. */
export function SettingsTab({ base }: { base: Versioned<KnowledgeBase> }) {
	return (
		<div class="settings">
			<SettingsForm base={base} />
			<Reindex baseId={base.value.id} documentCount={base.value.document_count} />
			<DeleteBase base={base.value} />
		</div>
	);
}

function fieldsOf({ name, description, search_settings }: KnowledgeBase): Fields {
	const { hybrid, semantic_weight, semantic_weight_source } = search_settings;
	return { name, description, hybrid, weight: semantic_weight_source === 'auto' ? null : semantic_weight };
}

/** The body of the PATCH that stores changed fields. */
function patchOf({ hybrid, weight, ...rest }: Partial<Fields>) {
	const search = {
		...(hybrid === undefined ? {} : { hybrid }),
		...(weight === undefined ? {} : { semantic_weight: weight }),
	};
	return Object.keys(search).length === 0 ? rest : { ...rest, search_settings: search };
}

function SettingsForm({ base: { value: base, etag } }: { base: Versioned<KnowledgeBase> }) {
	const s = strings();
	const t = s.knowledgePages;
	const draft = useDraft<Fields>(`knowledge/${base.id}`, fieldsOf(base));
	const [conflicting, setConflicting] = useState<Versioned<KnowledgeBase> | null>(null);
	const path = { id: base.id };
	const save = useAction(
		async (version: string) => {
			try {
				const params = { path, header: { 'If-Match': version } };
				const call = api.PATCH('/api/v1/knowledge-bases/{id}', { params, body: patchOf(draft.changes) });
				keepBase(await versionedResultOf(call));
			} catch (error) {
				if (!(error instanceof ApiError) || error.status !== 412) throw error;
				const stored = await versionedResultOf(api.GET('/api/v1/knowledge-bases/{id}', { params: { path } }));
				// Indexing changes the version, too: only other fields of the form are a conflict.
				if (isSameInForm(stored.value, base)) {
					await save.run(stored.etag);
					return;
				}
				setConflicting(stored);
				return;
			}
			draft.reset();
			setConflicting(null);
			showToast(s.saved);
		},
		['/name', '/description'],
	);
	const takeTheirs = (theirs: Versioned<KnowledgeBase>) => {
		draft.reset();
		setConflicting(null);
		keepBase(theirs);
	};
	const labels = { name: t.name, description: t.description, hybrid: t.hybrid, weight: t.weightSource };
	return (
		<>
			{conflicting && (
				<Conflict
					draft={draft}
					stored={fieldsOf(conflicting.value)}
					labelOf={(field) => labels[field]}
					onOverwrite={() => void save.run(conflicting.etag)}
					onTakeTheirs={() => takeTheirs(conflicting)}
				/>
			)}
			<form class="card" onSubmit={(event) => event.preventDefault()}>
				<TextField
					label={t.name}
					maxLength={200}
					required
					value={draft.values.name}
					error={save.rejected?.messageFor('/name')}
					onChange={(name) => draft.change({ name })}
				/>
				<TextField
					label={t.description}
					hint={t.descriptionHint}
					maxLength={2000}
					value={draft.values.description ?? ''}
					error={save.rejected?.messageFor('/description')}
					onChange={(text) => draft.change({ description: text === '' ? null : text })}
				/>
				<SearchFields
					values={draft.values}
					used={base.search_settings.semantic_weight}
					onChange={(part) => draft.change(part)}
				/>
				<SaveBar draft={draft} isBusy={save.isBusy} onSave={() => void save.run(etag)} />
			</form>
		</>
	);
}

function isSameInForm(a: KnowledgeBase, b: KnowledgeBase): boolean {
	return JSON.stringify(fieldsOf(a)) === JSON.stringify(fieldsOf(b));
}
