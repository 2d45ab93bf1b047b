import { showToast } from '../app/toasts.tsx';
import { Button } from '../components/button.tsx';
import { confirm } from '../components/confirm.tsx';
import { Status } from '../components/status.tsx';
import { useAction } from './use-action.ts';

type ArchiveStatus = 'active' | 'archived';

/** The words of the button for one kind of resource. */
export interface ArchiveTexts {
	archived: string;
	archive: string;
	archiveTitle: string;
	archiveText: string;
	archivedNow: string;
	activate: string;
	activatedNow: string;
}

/** Archives a resource, after a question, or activates it again. Beside it stands that it is archived. */
export function ArchiveButton({
	status,
	texts,
	onChange,
}: {
	status: ArchiveStatus;
	texts: ArchiveTexts;
	/** Stores the status. */
	onChange: (next: ArchiveStatus) => Promise<void>;
}) {
	const isArchived = status === 'archived';
	const change = useAction(async () => {
		const question = { title: texts.archiveTitle, text: texts.archiveText, action: texts.archive };
		if (!isArchived && !(await confirm(question))) return;
		await onChange(isArchived ? 'active' : 'archived');
		showToast(isArchived ? texts.activatedNow : texts.archivedNow);
	});
	return (
		<>
			{isArchived && <Status tone="grey">{texts.archived}</Status>}
			<Button isBusy={change.isBusy} onClick={() => void change.run()}>
				{isArchived ? texts.activate : texts.archive}
			</Button>
		</>
	);
}
