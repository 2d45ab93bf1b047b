import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { invalidate, useQuery } from '../../api/queries.ts';
import { linkTo, navigate } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { CreateForm } from '../../forms/create-form.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { assistantChoices } from './queries.ts';

/** The form for the assistant and the name of a new deployment. */
export function NewDeployment({ onCancel }: { onCancel: () => void }) {
	const t = strings().deploymentPages;
	const query = useQuery(assistantChoices());
	return (
		<section class="card inline-form" aria-label={t.create}>
			<QueryContent query={query}>
				{(assistants) =>
					assistants.length === 0 ? (
						<p>
							{t.noAssistant} <a href={linkTo(['assistants'])}>{strings().assistants}</a>
						</p>
					) : (
						<NewDeploymentForm assistants={assistants} onCancel={onCancel} />
					)
				}
			</QueryContent>
		</section>
	);
}

function NewDeploymentForm({
	assistants,
	onCancel,
}: {
	assistants: readonly { id: string; name: string }[];
	onCancel: () => void;
}) {
	const t = strings().deploymentPages;
	const [assistantId, setAssistantId] = useState(assistants[0]?.id ?? '');
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
				options={assistants.map((assistant) => ({ value: assistant.id, label: assistant.name }))}
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
