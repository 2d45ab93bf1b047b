import { DownloadButton } from '../../components/download-button.tsx';
import { strings } from '../../languages/index.ts';

/** Saves the settings of the workspace as a file. */
export function Export() {
	const t = strings().accessPages;
	return (
		<section class="card" aria-label={t.exportTitle}>
			<h2>{t.exportTitle}</h2>
			<p class="soft form-text">{t.exportText}</p>
			<div class="actions">
				<DownloadButton path="api/v1/workspace/export">{t.exportStart}</DownloadButton>
			</div>
		</section>
	);
}
