import { api, resultOf } from '../../api/client.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';

/** Sends a ping at once and says whether it arrived. */
export function PingButton({ id }: { id: string }) {
	const t = strings().webhookPages;
	const ping = useAction(async () => {
		const call = api.POST('/api/v1/webhooks/{id}/test', { params: { path: { id } } });
		const { delivered, status_code, duration_ms, error } = await resultOf(call);
		if (delivered) showToast(fill(t.pinged, { status: String(status_code), ms: duration_ms }));
		else showToast(fill(t.pingFailed, { error: error ?? '' }), { isError: true });
	});
	return (
		<Button icon="send" isBusy={ping.isBusy} onClick={() => void ping.run()}>
			{t.ping}
		</Button>
	);
}
