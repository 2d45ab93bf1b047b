import { useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Status } from '../../components/status.tsx';
import { useAction } from '../../forms/use-action.ts';
import { errorText } from '../../languages/error-text.ts';
import { strings } from '../../languages/index.ts';
import { addFiles, addUrl } from './add-documents.ts';
import type { Setup } from './queries.ts';
import { loadSamples } from './samples.ts';
import { StepFrame, type StepProps } from './step.tsx';

/** The second step: files, a page of the web, or the five samples. */
export function DocumentsStep({ setup, onNext }: StepProps) {
	const t = strings().startPage;
	if (!setup.assistant) {
		return (
			<StepFrame title={t.documentsTitle} text={t.documentsNeedAssistant} isDone={false} onNext={onNext}>
				{null}
			</StepFrame>
		);
	}
	const { documents } = setup;
	const isDone = documents.some(({ status }) => status === 'indexed');
	return (
		<StepFrame title={t.documentsTitle} text={t.documentsText} isDone={isDone} onNext={onNext}>
			<Sources setup={setup} />
			{documents.length > 0 && (
				<ul class="guide-documents" aria-live="polite">
					{documents.map((document) => (
						<li key={document.id}>
							<span>{document.title}</span>
							<DocumentStatus document={document} />
						</li>
					))}
				</ul>
			)}
		</StepFrame>
	);
}

function Sources({ setup }: { setup: Setup }) {
	const t = strings().startPage;
	const picker = useRef<HTMLInputElement>(null);
	const [url, setUrl] = useState('');
	const [isOver, setOver] = useState(false);
	const files = useAction((chosen: readonly File[]) => addFiles(setup, chosen));
	const samples = useAction(async () => addFiles(setup, await loadSamples()));
	const page = useAction(async () => {
		await addUrl(setup, url.trim());
		setUrl('');
	}, ['/url']);
	return (
		<>
			<fieldset
				class={isOver ? 'drop-zone over' : 'drop-zone'}
				aria-label={t.dropLabel}
				onDragOver={(event) => {
					event.preventDefault();
					setOver(true);
				}}
				onDragLeave={() => setOver(false)}
				onDrop={(event) => {
					event.preventDefault();
					setOver(false);
					void files.run([...(event.dataTransfer?.files ?? [])]);
				}}
			>
				<Icon name="knowledge" />
				<p>{t.dropText}</p>
				<p class="hint">{t.dropHint}</p>
				<input
					ref={picker}
					type="file"
					multiple
					hidden
					onChange={(event) => {
						void files.run([...(event.currentTarget.files ?? [])]);
						event.currentTarget.value = '';
					}}
				/>
				<div class="actions">
					<Button isBusy={files.isBusy} onClick={() => picker.current?.click()}>
						{t.chooseFiles}
					</Button>
					<Button isBusy={samples.isBusy} onClick={() => void samples.run()}>
						{t.useSamples}
					</Button>
				</div>
			</fieldset>
			<form
				class="guide-url"
				onSubmit={(event) => {
					event.preventDefault();
					void page.run();
				}}
			>
				<TextField
					label={t.url}
					type="url"
					placeholder="https://"
					value={url}
					error={page.rejected?.messageFor('/url')}
					onChange={setUrl}
				/>
				<Button type="submit" isBusy={page.isBusy} disabled={url.trim() === ''}>
					{t.addUrl}
				</Button>
			</form>
		</>
	);
}

function DocumentStatus({ document: { status, error } }: { document: Setup['documents'][number] }) {
	const t = strings().startPage;
	switch (status) {
		case 'indexed':
			return <Status tone="green">{t.indexed}</Status>;
		case 'error':
			return (
				<>
					<Status tone="red">{t.failed}</Status>
					<span class="field-error">{error && errorText(strings().errors, error)}</span>
				</>
			);
		default:
			return <Status tone="amber">{status === 'queued' ? t.queued : t.processing}</Status>;
	}
}
