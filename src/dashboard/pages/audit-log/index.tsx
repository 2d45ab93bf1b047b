import { useQuery } from '../../api/queries.ts';
import { changeQuery, route } from '../../app/route.ts';
import { Button } from '../../components/button.tsx';
import { DownloadButton } from '../../components/download-button.tsx';
import { FilterSelect, Filters } from '../../components/filters.tsx';
import { optionsOf } from '../../components/options.ts';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { fill, strings } from '../../languages/index.ts';
import { RecordDialog } from './details.tsx';
import { type AuditFilters, type AuditRecord, actors, exportPath, useAuditLog } from './queries.ts';
import { kindOf, verbOf } from './words.ts';

const DAYS = [1, 7, 30] as const;

/** The filters that the address has. */
function filtersOfRoute(): AuditFilters {
	const { query } = route.value;
	const [actor, action, resource] = [query.get('actor'), query.get('action'), query.get('resource')];
	const days = Number(query.get('days'));
	return {
		...(actor && { actor }),
		...(action && { action }),
		...(resource && { resource }),
		...(days > 0 && { days }),
	};
}

/** The audit log: a table with filters in the address. A row opens its details. */
export default function AuditLog() {
	const s = strings();
	const t = s.accessPages;
	const filters = filtersOfRoute();
	const list = useAuditLog(filters);
	const openId = route.value.query.get('record');
	return (
		<>
			<PageHeader title={t.titles.auditLog} purpose={t.auditPurpose}>
				{(['csv', 'jsonl'] as const).map((format) => (
					<DownloadButton key={format} icon="download" path={exportPath(filters, format)}>
						{t.auditExports[format]}
					</DownloadButton>
				))}
				<Button icon="retry" isBusy={list.isLoading} onClick={list.reload}>
					{s.parts.refresh}
				</Button>
			</PageHeader>
			<AuditFilterBar filters={filters} />
			<PagedContent list={list}>
				{(records) => {
					const open = records.find(({ id }) => id === openId);
					return (
						<>
							{records.length === 0 ? (
								<EmptyState title={t.noRecords} text={t.noRecordsText} />
							) : (
								<RecordTable records={records} />
							)}
							{open && <RecordDialog key={open.id} record={open} />}
						</>
					);
				}}
			</PagedContent>
		</>
	);
}

/** The filters. Action and resource are chosen in the details of a record, and removed here. */
function AuditFilterBar({ filters: { actor, action, resource } }: { filters: AuditFilters }) {
	const t = strings().accessPages;
	const options = optionsOf(useQuery(actors()).data);
	// A person or key that is removed still has records.
	const isKnown = actor === undefined || options.some(({ value }) => value === actor);
	const people = isKnown ? options : [...options, { value: actor, label: actor }];
	const times = DAYS.map((days) => ({ value: String(days), label: t.times[days] }));
	return (
		<Filters>
			<FilterSelect name="actor" label={t.who} options={people} />
			<FilterSelect name="days" label={t.when} options={times} />
			{action !== undefined && (
				<Button icon="close" onClick={() => changeQuery({ action: undefined })}>
					{fill(t.onlyThis, { what: action })}
				</Button>
			)}
			{resource !== undefined && (
				<Button icon="close" onClick={() => changeQuery({ resource: undefined })}>
					{fill(t.onlyThis, { what: `${resource.slice(0, 14)}…` })}
				</Button>
			)}
		</Filters>
	);
}

function RecordTable({ records }: { records: readonly AuditRecord[] }) {
	const t = strings().accessPages;
	return (
		<Table
			label={t.titles.auditLog}
			rows={records}
			pathOf={null}
			columns={[
				{
					title: t.what,
					cell: ({ id, action }) => (
						<button type="button" class="link-button whole-words" onClick={() => changeQuery({ record: id })}>
							{verbOf(action)}
						</button>
					),
				},
				{
					title: t.on,
					cell: ({ resource: { type, name } }) => (
						<>
							<span class="whole-words">{kindOf(type)}</span> {name && <strong>{name}</strong>}
						</>
					),
				},
				{ title: t.who, cell: ({ actor }) => actor.name },
				{ title: t.fields, cell: ({ fields }) => <span class="hint">{fields.join(', ')}</span>, isMinor: true },
				{ title: t.when, cell: ({ created_at }) => <RelativeTime at={created_at} /> },
			]}
		/>
	);
}
