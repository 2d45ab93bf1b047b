import { useEffect } from 'preact/hooks';
import { useLiveQueries } from '../../api/live.ts';
import { useQuery } from '../../api/queries.ts';
import { endGuide } from '../../app/first-run.ts';
import { changeQuery, navigate, route } from '../../app/route.ts';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { strings } from '../../languages/index.ts';
import { AskStep } from './ask-step.tsx';
import { DocumentsStep } from './documents-step.tsx';
import { NameStep } from './name-step.tsx';
import { doneSteps, SETUP_KEY, type Setup, setupOfWorkspace } from './queries.ts';
import { SnippetStep } from './snippet-step.tsx';

const STEPS = [NameStep, DocumentsStep, AskStep, SnippetStep];

/** The first run: four steps from an empty workspace to an assistant on a website. */
export default function Start() {
	const query = useQuery(setupOfWorkspace());
	useLiveQueries(['assistant.updated', 'document.updated', 'knowledge_base.updated', 'message.created'], SETUP_KEY);
	return <QueryContent query={query}>{(setup) => <Guide setup={setup} />}</QueryContent>;
}

function Guide({ setup }: { setup: Setup }) {
	const t = strings().startPage;
	const done = doneSteps(setup);
	const isComplete = done.every(Boolean);
	// The address names the step only where the person went there; otherwise it is the first that is not done.
	const named = Number(route.value.query.get('step'));
	const firstOpen = Math.max(done.indexOf(false), 0);
	const current = named >= 1 && named <= STEPS.length ? named - 1 : firstOpen;
	const Step = STEPS[current] as (typeof STEPS)[number];
	const goTo = (step: number) => {
		if (step < STEPS.length) changeQuery({ step: String(step + 1) });
		else leave();
	};
	const leave = () => {
		endGuide();
		navigate(setup.assistant ? ['assistants', setup.assistant.id] : ['assistants']);
	};
	useEffect(() => {
		if (isComplete && !named) leave();
	}, []);
	return (
		<div class="guide">
			<PageHeader title={t.title} purpose={t.purpose}>
				<Button look="quiet" onClick={leave}>
					{t.leave}
				</Button>
			</PageHeader>
			<ol class="guide-steps">
				{[t.nameTitle, t.documentsTitle, t.askTitle, t.snippetTitle].map((title, at) => (
					<li key={title} aria-current={at === current ? 'step' : undefined} class={done[at] ? 'done' : ''}>
						<button type="button" onClick={() => goTo(at)}>
							<span class="guide-number">{done[at] ? <Icon name="done" /> : at + 1}</span>
							<span>{title}</span>
							{done[at] && <span class="visually-hidden"> ({t.done})</span>}
						</button>
					</li>
				))}
			</ol>
			<Step key={current} setup={setup} onNext={() => goTo(current + 1)} />
		</div>
	);
}
