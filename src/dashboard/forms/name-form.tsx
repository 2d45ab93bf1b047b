import { useState } from 'preact/hooks';
import { showToast } from '../app/toasts.tsx';
import { TextField } from '../components/field.tsx';
import { fill } from '../languages/index.ts';
import { CreateForm } from './create-form.tsx';
import { useAction } from './use-action.ts';

/** The form of something new that needs a name only. */
export function NameForm({
	texts,
	onCreate,
	onCancel,
}: {
	/** `created` has the place `{name}`. */
	texts: { name: string; namePlaceholder: string; created: string };
	/** Creates it and opens its page. */
	onCreate: (name: string) => Promise<void>;
	onCancel: () => void;
}) {
	const [text, setText] = useState('');
	const name = text.trim();
	const create = useAction(async () => {
		await onCreate(name);
		showToast(fill(texts.created, { name }));
	}, ['/name']);
	return (
		<CreateForm isBusy={create.isBusy} isIncomplete={name === ''} cancel={onCancel} onCreate={() => void create.run()}>
			<TextField
				label={texts.name}
				placeholder={texts.namePlaceholder}
				maxLength={200}
				required
				value={text}
				error={create.rejected?.messageFor('/name')}
				onChange={setText}
			/>
		</CreateForm>
	);
}
