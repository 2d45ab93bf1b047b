import { useRef } from 'preact/hooks';
import { api, BASE_URL, resultOf } from '../api/client.ts';
import { useAction } from '../forms/use-action.ts';
import { Button } from './button.tsx';
import type { IconName } from './icon.tsx';

interface DownloadButtonProps {
	/** The API's path of the file, without a slash at its beginning. */
	path: string;
	icon?: IconName;
	children: string;
}

/** Saves a file of the API. */
export function DownloadButton({ path, icon, children }: DownloadButtonProps) {
	const link = useRef<HTMLAnchorElement>(null);
	const start = useAction(async () => {
		// The browser itself saves the file: what keeps the session from it is reported before.
		await resultOf(api.GET('/api/v1/session'));
		link.current?.click();
	});
	return (
		<>
			<Button icon={icon} isBusy={start.isBusy} onClick={() => void start.run()}>
				{children}
			</Button>
			<a ref={link} href={new URL(path, BASE_URL).href} download="" hidden>
				{children}
			</a>
		</>
	);
}
