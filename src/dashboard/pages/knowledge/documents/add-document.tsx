import { useState } from 'preact/hooks';
import { ApiError } from '../../../api/api-error.ts';
import { api, resultOf } from '../../../api/client.ts';
import { showToast } from '../../../app/toasts.tsx';
import { Button } from '../../../components/button.tsx';
import { TextArea, TextField } from '../../../components/field.tsx';
import { CreateForm } from '../../../forms/create-form.tsx';
import { useAction } from '../../../forms/use-action.ts';
import { useDraft } from '../../../forms/use-draft.ts';
import { fill, strings } from '../../../languages/index.ts';
import type { Document } from '../queries.ts';
import { adviceOf } from './error-sentence.ts';

type Form = 'url' | 'text';

const EMPTY = { url: '', title: '', content: '' };

/** Adds a web page or a text that the person types. */
export function AddDocument({ baseId, onAdded }: { baseId: string; onAdded: (document: Document) => void }) {
	const t = strings().knowledgePages;
	const [open, setOpen] = useState<Form | null>(null);
	const toggle = (form: Form) => setOpen(open === form ? null : form);
	const close = () => setOpen(null);
	return (
		<>
			<div class="actions add-document">
				<Button icon="link" isExpanded={open === 'url'} onClick={() => toggle('url')}>
					{t.addUrl}
				</Button>
				<Button icon="text" isExpanded={open === 'text'} onClick={() => toggle('text')}>
					{t.addText}
				</Button>
			</div>
			{open !== null && <AddForm key={open} form={open} baseId={baseId} onAdded={onAdded} onClose={close} />}
		</>
	);
}

function AddForm({
	form,
	baseId,
	onAdded,
	onClose,
}: {
	form: Form;
	baseId: string;
	onAdded: (document: Document) => void;
	onClose: () => void;
}) {
	const t = strings().knowledgePages;
	const draft = useDraft(`new-documents/${baseId}/${form}`, EMPTY);
	const { values, change } = draft;
	const [key] = useState(() => crypto.randomUUID());
	const add = useAction(async () => {
		const title = values.title.trim() === '' ? {} : { title: values.title.trim() };
		const body =
			form === 'url'
				? { source_type: form, url: values.url.trim(), ...title }
				: { source_type: form, content: values.content, ...title };
		const params = { path: { id: baseId }, header: { 'Idempotency-Key': key } };
		const document = await resultOf(api.POST('/api/v1/knowledge-bases/{id}/documents', { params, body })).catch(
			(error: Error) => {
				const isForbidden = error instanceof ApiError && error.code === 'url_not_allowed';
				throw isForbidden ? new Error(adviceOf(error)) : error;
			},
		);
		draft.reset();
		onAdded(document);
		showToast(fill(t.added, { name: document.title }));
		onClose();
	}, ['/url', '/title', '/content']);
	const isEmpty = (form === 'url' ? values.url : values.content).trim() === '';
	return (
		<CreateForm
			action={t.add}
			isBusy={add.isBusy}
			isIncomplete={isEmpty}
			cancel={onClose}
			onCreate={() => void add.run()}
		>
			{form === 'url' && (
				<TextField
					type="url"
					label={t.url}
					hint={t.urlHint}
					placeholder="https://"
					maxLength={2000}
					required
					value={values.url}
					error={add.rejected?.messageFor('/url')}
					onChange={(url) => change({ url })}
				/>
			)}
			<TextField
				label={t.title}
				hint={form === 'url' ? t.titleHint : undefined}
				maxLength={500}
				required={form === 'text'}
				value={values.title}
				error={add.rejected?.messageFor('/title')}
				onChange={(title) => change({ title })}
			/>
			{form === 'text' && (
				<TextArea
					label={t.text}
					rows={8}
					maxLength={900_000}
					required
					value={values.content}
					error={add.rejected?.messageFor('/content')}
					onChange={(content) => change({ content })}
				/>
			)}
		</CreateForm>
	);
}
