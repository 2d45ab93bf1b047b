import { useState } from 'preact/hooks';
import { currentSession } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { useAction } from '../../forms/use-action.ts';
import { count, strings } from '../../languages/index.ts';
import { exportLines } from './export-lines.ts';

/** Saves the settings of the workspace as a file. */
export function Export() {
	const t = strings().accessPages;
	const [lines, setLines] = useState(0);
	const start = useAction(async () => {
		setLines(0);
		const parts: string[] = [];
		for await (const line of exportLines()) {
			parts.push(line);
			if (parts.length % 50 === 0) setLines(parts.length);
		}
		saveFile(`${currentSession().workspace.id}.jsonl`, parts);
		showToast(count(t.exported, parts.length));
	});
	return (
		<section class="card" aria-label={t.exportTitle}>
			<h2>{t.exportTitle}</h2>
			<p class="soft form-text">{t.exportText}</p>
			<div class="actions">
				<Button isBusy={start.isBusy} onClick={() => void start.run()}>
					{t.exportStart}
				</Button>
				{start.isBusy && (
					<span class="hint" role="status">
						{count(t.exportProgress, lines)}
					</span>
				)}
			</div>
		</section>
	);
}

function saveFile(name: string, parts: string[]): void {
	const link = document.createElement('a');
	link.href = URL.createObjectURL(new Blob(parts, { type: 'application/jsonl' }));
	link.download = name;
	link.click();
	URL.revokeObjectURL(link.href);
}
