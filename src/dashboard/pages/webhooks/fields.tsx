import type { ApiError } from '../../api/api-error.ts';
import { Checkbox, TextField } from '../../components/field.tsx';
import type { Draft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import type { WebhookStrings } from '../../languages/strings.ts';
import type { Webhook, WebhookEvent } from './queries.ts';

/** What the form of a webhook changes. */
export type WebhookFields = Pick<Webhook, 'url' | 'description' | 'events'>;

/** The fields whose errors the form shows beside them. */
export const FIELD_POINTERS = ['/url', '/description', '/events'];

export const NEW_WEBHOOK: WebhookFields = { url: '', description: null, events: ['*'] };

export function fieldsOf({ url, description, events }: Webhook): WebhookFields {
	return { url, description, events };
}

export function labelsOf(t: WebhookStrings): Record<keyof WebhookFields, string> {
	return { url: t.url, description: t.description, events: t.events };
}

export function Fields({ draft, rejected }: { draft: Draft<WebhookFields>; rejected: ApiError | null }) {
	const t = strings().webhookPages;
	const { values, change } = draft;
	return (
		<>
			<TextField
				label={t.url}
				hint={t.urlHint}
				type="url"
				maxLength={4000}
				required
				placeholder="https://example.com/hooks/parley"
				value={values.url}
				error={rejected?.messageFor('/url')}
				onChange={(url) => change({ url })}
			/>
			<TextField
				label={t.description}
				hint={t.descriptionHint}
				maxLength={2000}
				value={values.description ?? ''}
				error={rejected?.messageFor('/description')}
				onChange={(description) => change({ description: description === '' ? null : description })}
			/>
			<EventsField
				events={values.events}
				error={rejected?.messageFor('/events') ?? null}
				onChange={(events) => change({ events })}
			/>
		</>
	);
}

/** All events, or those that are chosen. */
function EventsField({
	events,
	error,
	onChange,
}: {
	events: readonly WebhookEvent[];
	error: string | null;
	onChange: (events: WebhookEvent[]) => void;
}) {
	const { webhookPages: t, eventNames } = strings();
	const isAll = events.includes('*');
	const types = Object.keys(eventNames) as (keyof typeof eventNames)[];
	return (
		<fieldset class="field events">
			<legend>{t.events}</legend>
			<Checkbox label={t.allEvents} checked={isAll} onChange={(checked) => onChange(checked ? ['*'] : types)} />
			{!isAll &&
				types.map((type) => (
					<Checkbox
						key={type}
						label={eventNames[type]}
						hint={type}
						checked={events.includes(type)}
						onChange={(checked) => onChange(types.filter((one) => (one === type ? checked : events.includes(one))))}
					/>
				))}
			{(events.length === 0 || error) && <p class="field-error">{events.length === 0 ? t.noEvents : error}</p>}
		</fieldset>
	);
}
