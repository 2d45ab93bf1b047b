import { api, type Resource, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { changeQuery, linkTo, navigate, route } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { PageHeader } from '../../components/page.tsx';
import { CreateForm } from '../../forms/create-form.tsx';
import { useAction } from '../../forms/use-action.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { fill, strings } from '../../languages/index.ts';
import { Fields, isComplete } from './fields.tsx';
import type { ToolType } from './queries.ts';
import { configOf, FIELD_POINTERS, NO_FIELDS, type ToolFields, withoutSecrets } from './tool-fields.ts';

/** Creates a tool. Its kind is in the address: `tools/new?type=mcp`. */
export function NewTool() {
	const s = strings();
	const t = s.toolPages;
	const type = route.value.query.get('type') === 'mcp' ? 'mcp' : 'api';
	return (
		<div class="narrow">
			<PageHeader title={t.create} back={{ label: s.tools, href: linkTo(['tools']) }} />
			<fieldset class="kinds">
				<legend class="visually-hidden">{t.kind}</legend>
				<Kind value="api" chosen={type} label={t.createApi} text={t.createApiText} />
				<Kind value="mcp" chosen={type} label={t.createMcp} text={t.createMcpText} />
			</fieldset>
			<NewToolForm key={type} type={type} />
		</div>
	);
}

function Kind({ value, chosen, label, text }: { value: ToolType; chosen: ToolType; label: string; text: string }) {
	return (
		<label class="kind">
			<input type="radio" name="type" checked={value === chosen} onChange={() => changeQuery({ type: value })} />
			<span>
				<b>{label}</b>
				<span class="hint">{text}</span>
			</span>
		</label>
	);
}

function NewToolForm({ type }: { type: ToolType }) {
	const t = strings().toolPages;
	const draft = useDraft<ToolFields>(`tools/new-${type}`, NO_FIELDS, withoutSecrets);
	const { values } = draft;
	const create = useAction(async () => {
		const name = values.name.trim();
		const body = { name, description: values.description, type, config: configOf(values, type) };
		const { id } = await resultOf(api.POST('/api/v1/tools', { body: body as Resource<'ToolCreate'> }));
		draft.reset();
		void invalidate('tools', 'list');
		showToast(fill(t.created, { name }));
		navigate(['tools', id]);
	}, FIELD_POINTERS);
	return (
		<CreateForm
			class="card"
			isBusy={create.isBusy}
			isIncomplete={!isComplete(values, type)}
			cancel={linkTo(['tools'])}
			onCreate={() => void create.run()}
		>
			<Fields type={type} draft={draft} stored={NO_FIELDS} rejected={create.rejected} />
		</CreateForm>
	);
}
