import type { QueryObserverOptions } from '@tanstack/query-core';
import { PAGE_SIZE } from '../../api/all-rows.ts';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { useCurrency } from '../../api/prices.ts';
import { useQuery } from '../../api/queries.ts';
import { allDeployments } from '../../api/workspace-lists.ts';
import { linkTo } from '../../app/route.ts';
import { Table } from '../../components/table.tsx';
import { fill, locale, strings } from '../../languages/index.ts';
import { formatMoney } from '../../languages/money.ts';
import { Chart } from './chart.tsx';
import { bucketLabel, share } from './format.ts';
import { OVERVIEW_KEY, RANGES, type Range } from './queries.ts';

type CostSum = Resource<'CostSum'>;

/** The costs of a time range, in whole days. */
export interface Costs {
	currency: string;
	total: number;
	/** Of the same time before. */
	before: number;
	/** Every day of the range, the first one first. */
	days: { start: string; cost: number }[];
	/** Those with the highest costs. */
	deployments: CostSum[];
	models: CostSum[];
}

const DAY_MS = 86_400_000;
/** Rows of a table. */
const SHOWN = 10;

/** The costs of a range; null until they are loaded, and where no model has a price: then nothing is asked for or shown. */
export function useCosts(range: Range): Costs | null {
	const isPriced = useCurrency() !== null;
	return useQuery({ ...costsOf(range), enabled: isPriced }).data ?? null;
}

function costsOf(range: Range): QueryObserverOptions<Costs> {
	return {
		queryKey: [...OVERVIEW_KEY, 'costs', range],
		queryFn: async ({ signal }) => {
			const length = RANGES[range] * DAY_MS;
			const now = Date.now();
			const from = new Date(now - length + DAY_MS).toISOString();
			const load = (query: { group_by: 'day' | 'deployment' | 'model'; limit: number; from: string; to?: string }) =>
				resultOf(api.GET('/api/v1/costs', { params: { query }, signal }));
			const [days, deployments, models, before] = await Promise.all([
				load({ group_by: 'day', limit: PAGE_SIZE, from }),
				load({ group_by: 'deployment', limit: SHOWN, from }),
				load({ group_by: 'model', limit: SHOWN, from }),
				load({
					...{ group_by: 'day' as const, limit: 1 },
					...{ from: new Date(now - 2 * length + DAY_MS).toISOString(), to: new Date(now - length).toISOString() },
				}),
			]);
			return {
				currency: days.currency,
				total: days.total.cost_micros,
				before: before.total.cost_micros,
				days: everyDay(days),
				deployments: deployments.data,
				models: models.data,
			};
		},
	};
}

/** The days of a range. Those without costs are not in the response. */
function everyDay({ from, to, data }: Resource<'CostsPage'>): Costs['days'] {
	const costs = new Map(data.map(({ day, cost_micros }) => [Date.parse(day ?? ''), cost_micros]));
	const first = Date.parse(from);
	const length = Math.round((Date.parse(to) - first) / DAY_MS);
	return Array.from({ length }, (_, at) => {
		const start = first + at * DAY_MS;
		return { start: new Date(start).toISOString(), cost: costs.get(start) ?? 0 };
	});
}

/** Costs by day. A single day has no course. */
export function CostChart({ costs: { days, currency } }: { costs: Costs }) {
	const t = strings().costTexts;
	if (days.length < 2) return null;
	return (
		<Chart
			title={t.chart}
			report={{ buckets: days, interval: 'day' }}
			format={(micros) => formatMoney(micros, currency, locale.value)}
			lines={[{ label: t.costs, colour: '--accent', values: days.map(({ cost }) => cost) }]}
		/>
	);
}

/** The deployments and models with the highest costs. */
export function CostTables({ costs }: { costs: Costs }) {
	const t = strings().costTexts;
	const deployments = useQuery(allDeployments()).data?.rows;
	return (
		<div class="columns">
			<CostTable
				title={t.byDeployment}
				naming={t.deployment}
				costs={costs}
				rows={costs.deployments.map((sum) => ({ ...sum, id: sum.deployment_id ?? '' }))}
				nameOf={({ id }) => {
					const name = deployments?.find((deployment) => deployment.id === id)?.name;
					if (name !== undefined) return <a href={linkTo(['deployments', id])}>{name}</a>;
					return deployments && <code>{id}</code>;
				}}
			/>
			<CostTable
				title={t.byModel}
				naming={t.model}
				costs={costs}
				rows={costs.models.map((sum) => ({ ...sum, id: sum.model ?? '' }))}
				nameOf={({ id }) => <code>{id}</code>}
			/>
		</div>
	);
}

function CostTable({
	title,
	naming,
	rows,
	nameOf,
	costs: { total, currency },
}: {
	title: string;
	/** What a row is. */
	naming: string;
	rows: readonly (CostSum & { id: string })[];
	nameOf: (row: { id: string }) => preact.ComponentChildren;
	costs: Costs;
}) {
	const t = strings().costTexts;
	return (
		<section class="card">
			<h2>{title}</h2>
			{rows.length === 0 ? (
				<p class="soft">{t.none}</p>
			) : (
				<Table
					label={title}
					rows={rows}
					pathOf={null}
					columns={[
						{ title: naming, cell: nameOf },
						{
							title: t.costs,
							cell: ({ cost_micros }) => formatMoney(cost_micros, currency, locale.value),
							isNumber: true,
						},
						{ title: t.share, cell: ({ cost_micros }) => share(cost_micros, total), isNumber: true, isMinor: true },
					]}
				/>
			)}
			{rows.length === SHOWN && <p class="hint">{fill(t.restOf, { n: SHOWN })}</p>}
		</section>
	);
}

/** Since when the costs of a range are counted. */
export function costsSince({ days }: Costs): string {
	return fill(strings().costTexts.sinceDay, { day: bucketLabel(days[0]?.start ?? '', 'day') });
}
