import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { Field } from '../../components/field.tsx';
import { absoluteText } from '../../components/time.tsx';
import { useAction } from '../../forms/use-action.ts';
import { count, fill, strings } from '../../languages/index.ts';
import type { Webhook } from './queries.ts';

const HOUR_MS = 3_600_000;

/** A form for a time range, whose events are sent again. */
export function ReplayForm({ webhook: { id, url }, onClose }: { webhook: Webhook; onClose: () => void }) {
	const s = strings();
	const t = s.webhookPages;
	const [since, setSince] = useState(() => localTime(new Date(Date.now() - HOUR_MS)));
	const [until, setUntil] = useState('');
	const replay = useAction(async () => {
		const from = new Date(since);
		const to = until === '' ? null : new Date(until);
		const times = { url, since: absoluteText(from), until: to ? absoluteText(to) : '' };
		const text = fill(to ? t.replayAskRange : t.replayAskText, times);
		if (!(await confirm({ title: t.replayAskTitle, text, action: t.replayAction }))) return;
		const body = { since: from.toISOString(), ...(to && { until: to.toISOString() }) };
		const call = api.POST('/api/v1/webhooks/{id}/replay', { params: { path: { id } }, body });
		showToast(count(t.replayed, (await resultOf(call)).replayed));
		onClose();
		void invalidate('webhooks', 'deliveries', id);
	}, ['/since', '/until']);
	return (
		<form
			class="card replay"
			onSubmit={(event) => {
				event.preventDefault();
				void replay.run();
			}}
		>
			<h2>{t.replayTitle}</h2>
			<p class="soft">{t.replayText}</p>
			<div class="field-row">
				<MomentField
					label={t.replaySince}
					value={since}
					error={replay.rejected?.messageFor('/since')}
					onChange={setSince}
				/>
				<MomentField
					label={t.replayUntil}
					value={until}
					error={replay.rejected?.messageFor('/until')}
					onChange={setUntil}
				/>
			</div>
			<div class="actions">
				<Button look="primary" type="submit" isBusy={replay.isBusy} disabled={since === ''}>
					{t.replayAction}
				</Button>
				<Button look="quiet" onClick={onClose}>
					{s.cancel}
				</Button>
			</div>
		</form>
	);
}

function MomentField({
	label,
	value,
	error,
	onChange,
}: {
	label: string;
	value: string;
	error: string | null | undefined;
	onChange: (value: string) => void;
}) {
	return (
		<Field label={label} error={error}>
			{(ids) => (
				<input {...ids} type="datetime-local" value={value} onInput={(event) => onChange(event.currentTarget.value)} />
			)}
		</Field>
	);
}

/** A moment as a `datetime-local` field has it. */
function localTime(time: Date): string {
	return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
