import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { StepFrame, type StepProps } from './step.tsx';

/** The first step: an assistant with a name. */
export function NameStep({ setup: { assistant }, onNext }: StepProps) {
	const s = strings();
	const t = s.startPage;
	const [name, setName] = useState('');
	const create = useAction(async () => {
		await api.POST('/api/v1/assistants', { body: { name: name.trim() } });
		await Promise.all([invalidate('setup'), invalidate('assistants')]);
		onNext();
	}, ['/name']);
	return (
		<StepFrame title={t.nameTitle} text={t.nameText} isDone={assistant !== null} onNext={onNext}>
			{assistant ? (
				<p>{fill(t.nameDone, { name: assistant.name })}</p>
			) : (
				<form
					class="inline-form"
					onSubmit={(event) => {
						event.preventDefault();
						void create.run();
					}}
				>
					<TextField
						label={s.assistantPages.name}
						placeholder={s.assistantPages.namePlaceholder}
						maxLength={200}
						required
						value={name}
						error={create.rejected?.messageFor('/name')}
						onChange={setName}
					/>
					<Button type="submit" look="primary" isBusy={create.isBusy} disabled={name.trim() === ''}>
						{t.createAssistant}
					</Button>
				</form>
			)}
		</StepFrame>
	);
}
