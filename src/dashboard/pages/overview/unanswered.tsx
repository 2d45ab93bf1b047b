import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { EmptyState } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { useAction } from '../../forms/use-action.ts';
import { count, strings } from '../../languages/index.ts';
import { AnswerDialog } from './answer-dialog.tsx';
import { OVERVIEW_KEY, type UnansweredGroup, useUnansweredGroups } from './queries.ts';

/** The questions without an answer in groups, the most frequent first. */
export function Unanswered({ assistantId }: { assistantId: string | undefined }) {
	const t = strings().overviewPage;
	const list = useUnansweredGroups(assistantId);
	const [answered, setAnswered] = useState<UnansweredGroup | null>(null);
	return (
		<section class="card">
			<h2>{t.unanswered}</h2>
			<PagedContent list={list}>
				{(groups) =>
					groups.length === 0 ? (
						<EmptyState title={t.noUnanswered} text={t.noUnansweredText} />
					) : (
						<>
							<p class="soft">{t.unansweredText}</p>
							<ul class="question-groups">
								{groups.map((group) => (
									<Group key={group.id} group={group} onAnswer={() => setAnswered(group)} />
								))}
							</ul>
						</>
					)
				}
			</PagedContent>
			{answered && <AnswerDialog key={answered.id} group={answered} onClose={() => setAnswered(null)} />}
		</section>
	);
}

function Group({ group, onAnswer }: { group: UnansweredGroup; onAnswer: () => void }) {
	const t = strings().overviewPage;
	const dismiss = useAction(async () => {
		if (!(await confirm({ title: t.dismissTitle, text: t.dismissText, action: t.dismiss }))) return;
		await api.POST('/api/v1/stats/unanswered/{id}/dismiss', { params: { path: { id: group.id } } });
		showToast(t.dismissed);
		await invalidate(...OVERVIEW_KEY);
	});
	return (
		<li>
			<div class="question-group">
				<div>
					<h3>{group.question}</h3>
					<p class="hint">
						{count(t.asked, group.count)}, {t.lastAsked} <RelativeTime at={group.last_at} />
					</p>
				</div>
				{may('conversations:write') && (
					<div class="actions">
						{may('knowledge_bases:write') && <Button onClick={onAnswer}>{t.writeAnswer}</Button>}
						<Button look="quiet" isBusy={dismiss.isBusy} onClick={() => void dismiss.run()}>
							{t.dismiss}
						</Button>
					</div>
				)}
			</div>
			<details>
				<summary>{t.showQuestions}</summary>
				<ul>
					{group.examples.map(({ message_id, conversation_id, question, asked_at }) => (
						<li key={message_id}>
							{question}{' '}
							<span class="hint">
								<RelativeTime at={asked_at} /> · <a href={linkTo(['inbox', conversation_id])}>{t.conversation}</a>
							</span>
						</li>
					))}
				</ul>
			</details>
		</li>
	);
}
