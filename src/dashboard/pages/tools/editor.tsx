import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { useQuery } from '../../api/queries.ts';
import { allAssistants } from '../../api/workspace-lists.ts';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { ShortId } from '../../components/copy-button.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { SaveForm } from '../../forms/save-form.tsx';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
import { type Draft, useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { Fields, isComplete } from './fields.tsx';
import { FunctionsField } from './functions-field.tsx';
import { ToolStatus } from './list.tsx';
import { mergePatch } from './merge-patch.ts';
import { keepTool, type Tool, toolById } from './queries.ts';
import { StatusButtons } from './status-buttons.tsx';
import {
	configOf,
	FIELD_POINTERS,
	fieldsOf,
	labelsOf,
	type ToolFields,
	textOfField,
	withoutSecrets,
} from './tool-fields.ts';
import { TryOut } from './try-out.tsx';

/** One tool: the form at the left, and a call of the saved version at the right. */
export function ToolEditor({ id }: { id: string }) {
	const query = useQuery(toolById(id));
	return <QueryContent query={query}>{(tool) => <Editor tool={tool} />}</QueryContent>;
}

function Editor({ tool: version }: { tool: Versioned<Tool> }) {
	const s = strings();
	const tool = version.value;
	const isWriter = may('tools:write');
	const stored = fieldsOf(tool);
	const draft = useDraft<ToolFields>(`tools/${tool.id}`, stored, withoutSecrets);
	const params = { path: { id: tool.id } };
	const save = useConditionalSave<Tool, ToolFields>({
		version,
		draft,
		fieldsOf,
		pointers: FIELD_POINTERS,
		update: async (headers, latest) => {
			const body = patchOf(draft, latest);
			return versionedResultOf(api.PATCH('/api/v1/tools/{id}', { params, body, headers }));
		},
		load: () => versionedResultOf(api.GET('/api/v1/tools/{id}', { params })),
		show: keepTool,
		labelOf: (field) => labelsOf(s.toolPages)[field],
		textOf: textOfField,
	});
	return (
		<>
			<PageHeader title={tool.name} back={{ label: s.tools, href: linkTo(['tools']) }}>
				<ToolStatus tool={tool} />
				<ShortId id={tool.id} />
				{isWriter && <StatusButtons tool={tool} />}
			</PageHeader>
			<div class="columns">
				<div>
					<SaveForm draft={draft} save={save} isComplete={isComplete(draft.values, tool.type)} isReadOnly={!isWriter}>
						<Fields type={tool.type} draft={draft} stored={stored} rejected={save.rejected} />
						{tool.type === 'mcp' && (
							<FunctionsField
								id={tool.id}
								allowed={draft.values.allowed_tools}
								onChange={(allowed_tools) => draft.change({ allowed_tools })}
							/>
						)}
					</SaveForm>
					<UnusedHint tool={tool} />
				</div>
				{isWriter && <TryOut tool={tool} isSaved={!draft.isDirty} />}
			</div>
		</>
	);
}

/** What a PATCH sends: the changes of the form, applied to what is stored now. */
function patchOf(draft: Draft<ToolFields>, latest: Tool) {
	const next = { ...fieldsOf(latest), ...draft.changes };
	const config = mergePatch(latest.config, configOf(next, latest.type, latest.config));
	const { name, description } = draft.changes;
	return {
		...(name !== undefined && { name: name.trim() }),
		...(description !== undefined && { description }),
		...(config && { config }),
	};
}

/** Tells that nothing calls the tool yet. */
function UnusedHint({ tool: { id } }: { tool: Tool }) {
	const assistants = useQuery(allAssistants()).data;
	const isUnused = assistants?.isComplete && !assistants.rows.some(({ tool_ids }) => tool_ids.includes(id));
	if (!isUnused) return null;
	return <p class="notice">{strings().toolPages.attachHint}</p>;
}
