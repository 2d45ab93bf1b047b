import { linkTo } from '../../app/route.ts';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { count, locale, strings } from '../../languages/index.ts';
import type { Report } from './queries.ts';

const number = (value: number) => value.toLocaleString(locale.value);

/** Tokens by model. */
export function Models({ report: { models } }: { report: Report }) {
	const t = strings().overviewPage;
	return (
		<section class="card">
			<h2>{t.models}</h2>
			{models.length === 0 ? (
				<p class="soft">{t.noModels}</p>
			) : (
				<Table
					label={t.models}
					rows={models.map((row) => ({ ...row, id: row.model }))}
					pathOf={null}
					columns={[
						{ title: t.model, cell: ({ model }) => <code>{model}</code> },
						{ title: t.replies, cell: ({ replies }) => number(replies), isNumber: true },
						{ title: t.tokensIn, cell: ({ input_tokens }) => number(input_tokens), isNumber: true, isMinor: true },
						{ title: t.tokensOut, cell: ({ output_tokens }) => number(output_tokens), isNumber: true, isMinor: true },
					]}
				/>
			)}
		</section>
	);
}

/** The most cited documents. */
export function TopDocuments({ report: { top_documents } }: { report: Report }) {
	const t = strings().overviewPage;
	return (
		<section class="card">
			<h2>{t.topDocuments}</h2>
			{top_documents.length === 0 ? (
				<p class="soft">{t.noTopDocuments}</p>
			) : (
				<Table
					label={t.topDocuments}
					rows={top_documents.map((row) => ({ ...row, id: row.document_id }))}
					pathOf={null}
					columns={[
						{
							title: t.document,
							cell: ({ title, knowledge_base_id, document_id }) =>
								title === null || knowledge_base_id === null ? (
									<span class="soft">{t.removedDocument}</span>
								) : (
									<a href={linkTo(['knowledge', knowledge_base_id, 'documents', document_id])}>{title}</a>
								),
						},
						{ title: t.citations, cell: ({ citations }) => number(citations), isNumber: true },
					]}
				/>
			)}
		</section>
	);
}

/** Documents that no reply has ever cited. */
export function UncitedDocuments({ report: { uncited_documents } }: { report: Report }) {
	const t = strings().overviewPage;
	const { total, data } = uncited_documents;
	return (
		<section class="card">
			<h2>{t.uncited}</h2>
			<p class="soft">{total === 0 ? t.noUncited : count(t.uncitedTotal, total)}</p>
			{total > 0 && (
				<Table
					label={t.uncited}
					rows={data.map((row) => ({ ...row, id: row.document_id }))}
					pathOf={null}
					columns={[
						{
							title: t.document,
							cell: ({ title, knowledge_base_id, document_id }) => (
								<a href={linkTo(['knowledge', knowledge_base_id, 'documents', document_id])}>{title}</a>
							),
						},
						{ title: t.added, cell: ({ created_at }) => <RelativeTime at={created_at} />, isMinor: true },
					]}
				/>
			)}
		</section>
	);
}
