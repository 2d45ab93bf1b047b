import { useRef } from 'preact/hooks';
import { api, BASE_URL, resultOf } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';

const FILE_URL = new URL('api/v1/workspace/export', BASE_URL).href;

/** Saves the settings of the workspace as a file. */
export function Export() {
	const t = strings().accessPages;
	const link = useRef<HTMLAnchorElement>(null);
	const start = useAction(async () => {
		// The browser itself saves the file: what keeps the session from it is reported before.
		await resultOf(api.GET('/api/v1/workspace'));
		link.current?.click();
	});
	return (
		<section class="card" aria-label={t.exportTitle}>
			<h2>{t.exportTitle}</h2>
			<p class="soft form-text">{t.exportText}</p>
			<div class="actions">
				<Button isBusy={start.isBusy} onClick={() => void start.run()}>
					{t.exportStart}
				</Button>
				<a ref={link} href={FILE_URL} download="" hidden>
					{t.exportStart}
				</a>
			</div>
		</section>
	);
}
