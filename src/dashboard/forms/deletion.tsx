import { showToast } from '../app/toasts.tsx';
import { Button } from '../components/button.tsx';
import { confirm } from '../components/confirm.tsx';
import { useAction } from './use-action.ts';

/** The words of a deletion for one kind of resource. */
export interface DeletionTexts {
	remove: string;
	removeText: string;
	removeTitle: string;
	removed: string;
}

/** The last part of a resource's page: it deletes the resource, after a question. */
export function Deletion({
	texts,
	question,
	onDelete,
}: {
	texts: DeletionTexts;
	/** Says what will be lost. */
	question: string;
	/** Deletes it and leaves its page. */
	onDelete: () => Promise<void>;
}) {
	const remove = useAction(async () => {
		if (!(await confirm({ title: texts.removeTitle, text: question, action: texts.remove }))) return;
		await onDelete();
		showToast(texts.removed);
	});
	return (
		<section class="card">
			<h2>{texts.remove}</h2>
			<p class="soft">{texts.removeText}</p>
			<Button look="danger" isBusy={remove.isBusy} onClick={() => void remove.run()}>
				{texts.remove}
			</Button>
		</section>
	);
}
