import { useQuery } from '../../api/queries.ts';
import { DetailList } from '../../components/detail-list.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { fill, strings } from '../../languages/index.ts';
import { Export } from './export.tsx';
import { usage, workspace } from './queries.ts';
import { WorkspaceForm } from './settings.tsx';

/** The workspace: name, retention, use of the plan, export. */
export default function WorkspacePage() {
	const s = strings();
	const query = useQuery(workspace());
	return (
		<>
			<PageHeader title={s.accessPages.titles.workspace} purpose={s.accessPages.workspacePurpose} />
			<div class="columns">
				<QueryContent query={query}>{(stored) => <WorkspaceForm stored={stored} />}</QueryContent>
				<div>
					<PlanUse />
					<Export />
				</div>
			</div>
		</>
	);
}

function PlanUse() {
	const t = strings().accessPages;
	const query = useQuery(usage());
	const useText = ({ used, limit }: { used: number; limit: number | null }) =>
		limit === null ? fill(t.noLimit, { used }) : fill(t.ofLimit, { used, limit });
	return (
		<section class="card" aria-label={t.plan}>
			<h2>{t.plan}</h2>
			<QueryContent query={query}>
				{({ plan, assistants, tool_attachments, requests_per_minute }) => (
					<DetailList
						items={[
							{ label: t.plan, value: plan },
							{ label: t.activeAssistants, value: useText(assistants) },
							{ label: t.attachedTools, value: useText(tool_attachments) },
							{
								label: t.requestsPerMinute,
								value: requests_per_minute === 0 ? t.unlimited : fill('{n}', { n: requests_per_minute }),
							},
						]}
					/>
				)}
			</QueryContent>
			<p class="hint">{t.planHint}</p>
		</section>
	);
}
