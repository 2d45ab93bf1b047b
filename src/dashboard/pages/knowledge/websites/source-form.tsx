import { useState } from 'preact/hooks';
import { api, resultOf } from '../../../api/client.ts';
import { invalidate } from '../../../api/queries.ts';
import { showToast } from '../../../app/toasts.tsx';
import { SelectField, SliderField, TextArea, TextField } from '../../../components/field.tsx';
import { CreateForm } from '../../../forms/create-form.tsx';
import { useAction } from '../../../forms/use-action.ts';
import { fill, strings } from '../../../languages/index.ts';
import type { Source } from './queries.ts';

/** What the form starts with: the defaults of the API. */
const START = {
	type: 'website' as Source['type'],
	url: '',
	include: '',
	exclude: '',
	maxPages: 500,
	refreshHours: '24',
};
type Values = typeof START;

/** Follows another website, sitemap or page. */
export function SourceForm({ baseId, onClose }: { baseId: string; onClose: () => void }) {
	const t = strings().knowledgePages;
	const [values, setValues] = useState<Values>(START);
	const [key] = useState(() => crypto.randomUUID());
	const add = useAction(async () => {
		const params = { path: { id: baseId }, header: { 'Idempotency-Key': key } };
		const source = await resultOf(api.POST('/api/v1/knowledge-bases/{id}/sources', { params, body: bodyOf(values) }));
		showToast(fill(t.followed, { name: source.url }));
		void invalidate('knowledge', 'sources', baseId);
		onClose();
	}, ['/url']);
	return (
		<CreateForm
			action={t.follow}
			isBusy={add.isBusy}
			isIncomplete={values.url.trim() === ''}
			cancel={onClose}
			onCreate={() => void add.run()}
		>
			<SourceFields
				values={values}
				urlError={add.rejected?.messageFor('/url')}
				onChange={(part) => setValues({ ...values, ...part })}
			/>
		</CreateForm>
	);
}

function bodyOf({ type, url, include, exclude, maxPages, refreshHours }: Values) {
	const hours = refreshHours === '' ? null : Number(refreshHours);
	const body = { type, url: url.trim(), refresh_hours: hours };
	if (type === 'url') return body;
	return { ...body, include: linesOf(include), exclude: linesOf(exclude), max_pages: maxPages };
}

function linesOf(text: string): string[] {
	return text
		.split('\n')
		.map((line) => line.trim())
		.filter(Boolean);
}

function SourceFields({
	values,
	urlError,
	onChange,
}: {
	values: Values;
	urlError: string | null | undefined;
	onChange: (part: Partial<Values>) => void;
}) {
	const t = strings().knowledgePages;
	return (
		<>
			<SelectField
				label={t.sourceType}
				value={values.type}
				options={[
					{ value: 'website', label: t.typeWebsite },
					{ value: 'sitemap', label: t.typeSitemap },
					{ value: 'url', label: t.typeUrl },
				]}
				onChange={(type) => onChange({ type: type as Source['type'] })}
			/>
			<TextField
				type="url"
				label={t.sourceUrl}
				placeholder="https://"
				maxLength={2000}
				required
				value={values.url}
				error={urlError}
				onChange={(url) => onChange({ url })}
			/>
			{values.type !== 'url' && (
				<>
					<TextArea
						label={t.include}
						hint={t.includeHint}
						rows={2}
						value={values.include}
						onChange={(include) => onChange({ include })}
					/>
					<TextArea label={t.exclude} rows={2} value={values.exclude} onChange={(exclude) => onChange({ exclude })} />
					<SliderField
						label={t.maxPages}
						{...{ min: 10, max: 5000, step: 10 }}
						value={values.maxPages}
						onChange={(maxPages) => onChange({ maxPages })}
					/>
				</>
			)}
			<SelectField
				label={t.refresh}
				value={values.refreshHours}
				options={[
					{ value: '', label: t.refreshNever },
					{ value: '1', label: t.refreshHourly },
					{ value: '24', label: t.refreshDaily },
					{ value: '168', label: t.refreshWeekly },
				]}
				onChange={(refreshHours) => onChange({ refreshHours })}
			/>
		</>
	);
}
