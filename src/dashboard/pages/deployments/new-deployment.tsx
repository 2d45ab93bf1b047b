import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { invalidate, useQuery } from '../../api/queries.ts';
import { allAssistants } from '../../api/workspace-lists.ts';
import { linkTo, navigate } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import type { Option } from '../../components/options.ts';
import { QueryContent } from '../../components/query-content.tsx';
import { CreateForm } from '../../forms/create-form.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { assistantOptions } from './queries.ts';

/** The form for the assistant and the name of a new deployment. */
export function NewDeployment({ onCancel }: { onCancel: () => void }) {
	const t = strings().deploymentPages;
	const query = useQuery(allAssistants());
	return (
		<section class="card inline-form" aria-label={t.create}>
			<QueryContent query={query}>
				{(assistants) => {
					const options = assistantOptions(assistants);
					return options.length === 0 ? (
						<p>
							{t.noAssistant} <a href={linkTo(['assistants'])}>{strings().assistants}</a>
						</p>
					) : (
						<NewDeploymentForm assistants={options} onCancel={onCancel} />
					);
				}}
			</QueryContent>
		</section>
	);
}

function NewDeploymentForm({ assistants, onCancel }: { assistants: readonly Option[]; onCancel: () => void }) {
	const t = strings().deploymentPages;
	const [assistantId, setAssistantId] = useState(assistants[0]?.value ?? '');
	const [name, setName] = useState('');
	const create = useAction(async () => {
		const body = { assistant_id: assistantId, ...(name.trim() === '' ? {} : { name: name.trim() }) };
		const made = await resultOf(api.POST('/api/v1/deployments', { body }));
		showToast(fill(t.created, { name: made.name }));
		void invalidate('deployments');
		navigate(['deployments', made.id]);
	}, ['/name', '/assistant_id']);
	return (
		<CreateForm class="" isBusy={create.isBusy} cancel={onCancel} onCreate={() => void create.run()}>
			<SelectField
				label={t.assistant}
				value={assistantId}
				options={assistants}
				error={create.rejected?.messageFor('/assistant_id')}
				onChange={setAssistantId}
			/>
			<TextField
				label={t.name}
				hint={t.newNameHint}
				placeholder={t.namePlaceholder}
				maxLength={200}
				value={name}
				error={create.rejected?.messageFor('/name')}
				onChange={setName}
			/>
		</CreateForm>
	);
}
