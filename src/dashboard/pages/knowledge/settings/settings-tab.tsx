import { api, type Versioned, versionedResultOf } from '../../../api/client.ts';
import { TextField } from '../../../components/field.tsx';
import { SaveForm } from '../../../forms/save-form.tsx';
import { useConditionalSave } from '../../../forms/use-conditional-save.tsx';
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

function SettingsForm({ base: version }: { base: Versioned<KnowledgeBase> }) {
	const t = strings().knowledgePages;
	const base = version.value;
	const draft = useDraft<Fields>(`knowledge/${base.id}`, fieldsOf(base));
	const labels = { name: t.name, description: t.description, hybrid: t.hybrid, weight: t.weightSource };
	const params = { path: { id: base.id } };
	const save = useConditionalSave<KnowledgeBase, Fields>({
		version,
		draft,
		fieldsOf,
		pointers: ['/name', '/description'],
		update: (headers) => {
			const body = patchOf(draft.changes);
			return versionedResultOf(api.PATCH('/api/v1/knowledge-bases/{id}', { params, body, headers }));
		},
		load: () => versionedResultOf(api.GET('/api/v1/knowledge-bases/{id}', { params })),
		show: keepBase,
		labelOf: (field) => labels[field],
	});
	return (
		<SaveForm draft={draft} save={save}>
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
		</SaveForm>
	);
}
