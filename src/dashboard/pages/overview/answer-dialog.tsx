import { useEffect, useRef, useState } from 'preact/hooks';
import type { AllRows } from '../../api/all-rows.ts';
import { api, resultOf } from '../../api/client.ts';
import { invalidate, useQuery } from '../../api/queries.ts';
import { allKnowledgeBases } from '../../api/workspace-lists.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { SelectField, TextArea, TextField } from '../../components/field.tsx';
import { optionsOf } from '../../components/options.ts';
import { QueryContent } from '../../components/query-content.tsx';
import { useAction } from '../../forms/use-action.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { OVERVIEW_KEY, type UnansweredGroup } from './queries.ts';

const MAX_TITLE = 200;

/** The form that makes a document from a question and the person's answer. The browser returns the focus when it closes. */
export function AnswerDialog({ group, onClose }: { group: UnansweredGroup; onClose: () => void }) {
	const t = strings().overviewPage;
	const dialog = useRef<HTMLDialogElement>(null);
	const query = useQuery(allKnowledgeBases());
	useEffect(() => dialog.current?.showModal(), []);
	const close = () => dialog.current?.close();
	return (
		<dialog ref={dialog} class="dialog answer-dialog" aria-labelledby="answer-title" onClose={onClose}>
			<h2 id="answer-title">{t.answerTitle}</h2>
			<QueryContent query={query}>
				{(knowledgeBases) =>
					knowledgeBases.rows.length === 0 ? (
						<>
							<p>{t.noKnowledgeBase}</p>
							<div class="actions">
								<Button onClick={close}>{strings().close}</Button>
							</div>
						</>
					) : (
						<AnswerForm group={group} knowledgeBases={knowledgeBases} onClose={close} />
					)
				}
			</QueryContent>
		</dialog>
	);
}

function AnswerForm({
	group,
	knowledgeBases,
	onClose,
}: {
	group: UnansweredGroup;
	knowledgeBases: AllRows<{ id: string; name: string }>;
	onClose: () => void;
}) {
	const s = strings();
	const t = s.overviewPage;
	const question = group.question.slice(0, MAX_TITLE);
	const draft = useDraft(`answers/${group.id}`, { title: question, answer: '' });
	const { title, answer } = draft.values;
	const [baseId, setBaseId] = useState(knowledgeBases.rows[0]?.id ?? '');
	/** The document of the last attempt: where only the group could not be marked, a repeat adds no second one. */
	const added = useRef<{ content: string; id: string } | null>(null);
	const add = useAction(async () => {
		const body = {
			source_type: 'text' as const,
			title: title.trim(),
			content: `# ${title.trim()}\n\n${answer.trim()}`,
		};
		const params = { path: { id: baseId } };
		const content = JSON.stringify([baseId, body]);
		if (added.current?.content !== content) {
			const { id } = await resultOf(api.POST('/api/v1/knowledge-bases/{id}/documents', { params, body }));
			added.current = { content, id };
		}
		await api.POST('/api/v1/stats/unanswered/{id}/resolve', {
			params: { path: { id: group.id } },
			body: { document_id: added.current.id },
		});
		draft.reset();
		showToast(t.addedNow);
		void invalidate(...OVERVIEW_KEY);
		onClose();
	}, ['/title', '/content']);
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				void add.run();
			}}
		>
			<TextField
				label={t.question}
				hint={t.questionHint}
				maxLength={MAX_TITLE}
				required
				value={title}
				error={add.rejected?.messageFor('/title')}
				onChange={(next) => draft.change({ title: next })}
			/>
			<TextArea
				label={t.answer}
				hint={t.answerHint}
				rows={6}
				required
				value={answer}
				error={add.rejected?.messageFor('/content')}
				onChange={(next) => draft.change({ answer: next })}
			/>
			<SelectField label={t.knowledgeBase} value={baseId} options={optionsOf(knowledgeBases)} onChange={setBaseId} />
			<div class="actions">
				<Button onClick={onClose}>{s.cancel}</Button>
				<Button look="primary" type="submit" isBusy={add.isBusy} disabled={title.trim() === '' || answer.trim() === ''}>
					{t.add}
				</Button>
			</div>
		</form>
	);
}
